#include "model/tools.h"

static const struct {
    const char *name;
    uint32_t caps;
} tools[RS_TOOLS] = {
#define X(id, folder, name, reading, caps) {name, caps},
    RS_EACH_TOOL(X)
#undef X
};

const char *rs_tool_name(uint8_t tool)
{
    return tool < RS_TOOLS ? tools[tool].name : "?";
}

bool rs_tool_has(uint8_t tool, uint32_t cap)
{
    return tool < RS_TOOLS && (tools[tool].caps & cap) == cap;
}
