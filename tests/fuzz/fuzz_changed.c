/* Real recordings with any words changed, through everything that reads them: import, join, analyses, events, timeline. */
#include "changed.h"
#include "looks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const originals[FILES] = {"tests/data/fuzz/runs/ring/vm.721.rsc",
                                             "tests/data/fuzz/runs/ring/vm.722.rsc"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_inputs in;
    struct rs_model m;
    if (!read_changed(&in, &m, data, size)) return 0;
    analyse(&m);
    draw(&m, &in);
    read_events(&m, &in);
    rs_model_free(&m);
    rs_inputs_close(&in);
    return 0;
}
