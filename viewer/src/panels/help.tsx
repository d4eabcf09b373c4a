// The help sheet, made from the table of actions.

import type { Session } from "../state/session";
import { ACTIONS, MOUSE, type Action } from "../timeline/actions";

const GROUPS: [Action["group"], string][] = [
    ["move", "moving"],
    ["choose", "choosing"],
    ["show", "showing"],
];

export function Help({ session }: { session: Session }) {
    if (!session.help.value) return null;
    return (
        <div class="help" role="dialog" aria-label="keys and mouse" onClick={() => (session.help.value = false)}>
            <div>
                {GROUPS.map(([group, title]) => (
                    <section key={group}>
                        <h3>{title}</h3>
                        {ACTIONS.filter((action) => action.group === group).map((action) => (
                            <p key={action.id}>
                                <kbd>{action.shown}</kbd> {action.text}
                            </p>
                        ))}
                    </section>
                ))}
                <section>
                    <h3>mouse</h3>
                    {MOUSE.map(({ shown, text }) => (
                        <p key={shown}>
                            <kbd>{shown}</kbd> {text}
                        </p>
                    ))}
                </section>
                <section>
                    <h3>what is drawn how</h3>
                    <p>A pale beginning of an operation is its wait for the last rank; the rest is the transfer.</p>
                    <p>
                        A bar that fades out has an end that is only bounded. Hatched red: lost. Hatched grey: not
                        recorded.
                    </p>
                    <p>A red corner marks the last to arrive, where the clocks can tell.</p>
                </section>
            </div>
        </div>
    );
}
