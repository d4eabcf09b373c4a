#include "cli/nccl_library.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* The part of a 64-bit ELF file with its constant texts: most of a GPU library is code for GPUs. The whole file if there is no
 * such section. */
static void constants_of(const struct rs_file_map *map, size_t *from, size_t *bytes)
{
    *from = 0;
    *bytes = map->size;
    Elf64_Ehdr head;
    if (map->size < sizeof head) return;
    memcpy(&head, map->data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return;
    if (head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shstrndx >= head.e_shnum) return;
    if (head.e_shoff > map->size || (map->size - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum) return;
    const uint8_t *sections = map->data + head.e_shoff;
    Elf64_Shdr names, s;
    memcpy(&names, sections + head.e_shstrndx * sizeof names, sizeof names);
    static const char wanted[] = ".rodata";
    for (size_t i = 0; i < head.e_shnum; i++) {
        memcpy(&s, sections + i * sizeof s, sizeof s);
        uint64_t name = names.sh_offset + s.sh_name;
        if (s.sh_type != SHT_PROGBITS || name > map->size || map->size - name < sizeof wanted) continue;
        if (memcmp(map->data + name, wanted, sizeof wanted) != 0) continue;
        if (s.sh_offset > map->size || map->size - s.sh_offset < s.sh_size) return;
        *from = s.sh_offset;
        *bytes = s.sh_size;
        return;
    }
}

int rs_nccl_version_in(int fd, const char *path)
{
    static const char mark[] = "NCCL version ";
    enum { MARK = sizeof mark - 1, ROOM = 24 };
    struct rs_file_map map;
    struct rs_err ignored;
    if (rs_file_map_fd(&map, fd, path, &ignored) != RS_OK) return 0;
    size_t from, bytes;
    constants_of(&map, &from, &bytes);
    const uint8_t *at = map.data + from, *end = at + bytes;
    int version = 0;
    while (!version && (at = memmem(at, (size_t)(end - at), mark, MARK)) != NULL) {
        char text[ROOM] = "";
        size_t left = (size_t)(end - at) - MARK;
        memcpy(text, at + MARK, left < ROOM - 1 ? left : ROOM - 1);
        int major, minor, patch;
        if (sscanf(text, "%2d.%2d.%2d", &major, &minor, &patch) == 3 && major > 0 && minor >= 0 && patch >= 0)
            version = major * (major > 2 || minor > 8 ? 10000 : 1000) + minor * 100 + patch;
        at += MARK;
    }
    if (rs_file_trouble(&map) != NULL) version = 0;
    rs_file_unmap(&map);
    return version;
}

struct rs_text rs_nccl_version_text(int version)
{
    struct rs_text text = {"of unknown version"};
    int unit = version >= 10000 ? 10000 : 1000;
    if (version > 0) snprintf(text.s, sizeof text.s, "%d.%d.%d", version / unit, version % unit / 100, version % 100);
    return text;
}

int rs_nccl_profiler_api(int version)
{
    static const int first[] = {RS_NCCL_FIRST_PROFILER, 22403, 22602, 22703, 22803, 22902, 23100}; /* of v1, v2, ... */
    int api = 0;
    while (api < (int)(sizeof first / sizeof first[0]) && version >= first[api]) api++;
    return api;
}

bool rs_nccl_refuses_paths(int version)
{
    return version >= 22703 && version < 22705;
}
