# Completion of ringscope for fish. Commands, options and values are asked of the program itself (--complete).

function __ringscope_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program $words[1]
    if test (count $words) -eq 1; or begin
            test (count $words) -eq 2; and test "$words[2]" = help
        end
        $program --complete 2>/dev/null
        return
    end
    if contains -- -- $words # of the command that `ringscope run` runs
        __fish_complete_path $word
        return
    end
    set -l before $words[-1]
    set -l begin ''
    if string match -q -- '--*=*' $word
        set before (string replace -r '=.*' '' -- $word)
        set begin "$before="
    end
    set -l options ($program $words[2] --complete 2>/dev/null)
    for line in $options
        set -l fields (string split \t -- $line)
        test "$before" = $fields[1]; or test "$before" = $fields[2]; or continue
        test $fields[3] = -; and break
        if test "$fields[4]" != -
            set -l list (string match -r -- '.*,' (string replace -- "$begin" '' $word))
            for value in (string split ' ' -- $fields[4])
                echo "$begin$list$value"
            end
        else if string match -qr -- 'FILE|DIR|OUT' $fields[3]
            __fish_complete_path $word
        end
        return
    end
    if string match -q -- '-*' $word
        for line in $options
            set -l fields (string split \t -- $line)
            printf '%s\t%s\n' $fields[1] $fields[5]
        end
    else
        __fish_complete_path $word
    end
end

complete -c ringscope -f -a '(__ringscope_complete)'
