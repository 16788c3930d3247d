/* The gradients of a fully connected layer's inputs, dX = D W, in the manner of linear.h: a row of dX is a sum of
 * multiples of rows of W, one for each nonzero number of D. A block of rows of W is cut into panels, each of which serves
 * all samples while it is in the innermost cache. Here `samples` are those of all workers. */
typedef struct {
    float *packed, *sums;
    Term *terms;
    uint32_t *counts, *wild;
} InputRoom;

/* Whether so many numbers of D are zero that this is worth it: what is left costs more than in a dense product. */
static CLONES int is_sparse(const float *restrict d, Py_ssize_t count)
{
    Py_ssize_t zeros = 0;
    for (Py_ssize_t k = 0; k < count; ++k)
        zeros += d[k] == 0;
    return zeros >= count / 3;
}

/* The terms of every sample within `count` outputs from the first one of `d` on; a term's row is that of W. */
INLINE void list_outputs(Connected layer, const float *restrict d, Py_ssize_t count, const uint32_t *restrict wild,
                         Term *restrict terms, uint32_t *restrict counts)
{
    for (Py_ssize_t sample = 0; sample < layer.samples; ++sample, d += layer.outputs, terms += OUTPUTS_PER_BLOCK) {
        Py_ssize_t end = 0;
        for (Py_ssize_t output = 0; output < count; ++output) {
            uint32_t pattern;
            memcpy(&pattern, d + output, sizeof pattern);
            terms[end].factor = d[output];
            terms[end].row = (uint32_t)output;
            end += ((pattern << 1) | wild[output]) != 0;
        }
        counts[sample] = (uint32_t)end;
    }
}

/* One panel of all rows of dX, which are `apart`. */
INLINE void add_panel(Py_ssize_t samples, const float *restrict packed, const Term *restrict terms,
                      const uint32_t *restrict counts, int vectors, float *restrict out, Py_ssize_t apart, int hold)
{
    for (Py_ssize_t sample = 0; sample < samples; ++sample, terms += OUTPUTS_PER_BLOCK, out += apart) {
        lanes sums[PANEL];
        for (int k = 0; k < vectors; ++k)
            sums[k] = *(const lanes *)(out + LANES * k);
        for (uint32_t term = 0; term < counts[sample]; ++term) {
            const float *restrict seen = packed + (Py_ssize_t)terms[term].row * vectors * LANES;
            lanes factor = terms[term].factor - (lanes){0};
            HOLD(hold, factor);
            for (int k = 0; k < vectors; ++k)
                sums[k] += factor * *(const lanes *)(seen + LANES * k);
        }
        for (int k = 0; k < vectors; ++k)
            *(lanes *)(out + LANES * k) = sums[k];
    }
}

#define PANEL_OF(number)                                                                             \
    case number:                                                                                     \
        add_panel(layer.samples, packed, room.terms, room.counts, number, sums, apart, hold);        \
        break
INLINE void all_inputs(Connected layer, const float *d, const float *weights, InputRoom room, int hold)
{
    Py_ssize_t apart = padded(layer.inputs);
    for (Py_ssize_t first = 0; first < layer.outputs; first += OUTPUTS_PER_BLOCK) {
        Py_ssize_t left = layer.outputs - first, count = left < OUTPUTS_PER_BLOCK ? left : OUTPUTS_PER_BLOCK;
        Connected block = {.samples = count, .inputs = layer.inputs};
        const float *rows = weights + first * layer.inputs;
        pack_panels(block, rows, room.packed);
        find_wild(block, rows, room.wild);
        list_outputs(layer, d + first, count, room.wild, room.terms, room.counts);
        for (Py_ssize_t from = 0; from < layer.inputs;) {
            Panel panel = panel_from(from, layer.inputs);
            const float *packed = room.packed + count * from;
            float *sums = room.sums + from;
            switch (panel.vectors) {
                PANEL_OF(1);
                PANEL_OF(2);
                PANEL_OF(3);
                PANEL_OF(4);
                PANEL_OF(5);
                PANEL_OF(6);
                PANEL_OF(7);
                PANEL_OF(8);
                PANEL_OF(9);
            default:
                add_panel(layer.samples, packed, room.terms, room.counts, PANEL, sums, apart, hold);
            }
            from += panel.vectors * LANES;
        }
    }
}

#ifdef WIDE
static WIDE void all_inputs_wide(Connected layer, const float *d, const float *weights, InputRoom room)
{
    all_inputs(layer, d, weights, room, 1);
}
#endif

static void all_inputs_plain(Connected layer, const float *d, const float *weights, InputRoom room)
{
    all_inputs(layer, d, weights, room, 0);
}

static int run_inputs(Connected layer, const float *d, const float *weights, float *out)
{
    Py_ssize_t apart = padded(layer.inputs), sizes[] = {OUTPUTS_PER_BLOCK * apart, layer.samples * apart};
    size_t samples = (size_t)layer.samples;
    float *parts[2], *numbers = reserve(sizes, 2, parts);
    Term *terms = malloc(samples * OUTPUTS_PER_BLOCK * sizeof(Term));
    uint32_t *counts = malloc((samples + OUTPUTS_PER_BLOCK) * sizeof(uint32_t));
    int status = numbers && terms && counts ? 0 : -1;
    if (!status) {
        InputRoom room = {parts[0], parts[1], terms, counts, counts + samples};
#ifdef WIDE
        if (is_wide())
            all_inputs_wide(layer, d, weights, room);
        else
#endif
            all_inputs_plain(layer, d, weights, room);
        for (Py_ssize_t sample = 0; sample < layer.samples; ++sample)
            memcpy(out + sample * layer.inputs, room.sums + sample * apart, sizeof(float) * (size_t)layer.inputs);
    }
    free(counts);
    free(terms);
    free(numbers);
    return status;
}
