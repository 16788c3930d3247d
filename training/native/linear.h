/* A fully connected layer's gradients, worker by worker: dW[o][i] = sum_s D[s][o] X[s][i] and db[o] = sum_s D[s][o].
 *
 * Behind a rectifier half of D is zero, or more. So every output has a list of its nonzero terms, and one row of dW is
 * the sum of these multiples of rows of X: half of the products, none of which depends on a branch, in the order of the
 * samples. The sums stay in registers and X is read from the innermost cache: for this X is cut into panels of at most
 * PANEL vectors, and each panel serves a block of outputs before the next one is read. Wider panels leave too little of
 * that cache for the rows that are written, and are slower. */

enum { PANEL = 10, OUTPUTS_PER_BLOCK = 64, ROWS_AHEAD = 4 };

typedef struct {
    Py_ssize_t workers, samples, inputs, outputs;
} Connected;

typedef struct {
    Py_ssize_t first, width;
    int vectors;
} Panel;

typedef struct {
    float factor;
    uint32_t row;
} Term;

/* `terms` has room for one block, and the terms of its output k end at ends[k]. A sample is wild if it holds an
 * infinity or a NaN: times zero these are NaN, and no term of that sample is left out. */
typedef struct {
    float *packed;
    Term *terms;
    uint32_t *wild;
    Py_ssize_t ends[OUTPUTS_PER_BLOCK];
} Prepared;

/* The inputs from `first` on, a multiple of LANES, are shared out to as few panels as possible, evenly. */
INLINE Panel panel_from(Py_ssize_t first, Py_ssize_t inputs)
{
    Py_ssize_t left = padded(inputs - first) / LANES, panels = (left + PANEL - 1) / PANEL;
    Py_ssize_t vectors = (left + panels - 1) / panels, rest = inputs - first;
    return (Panel){first, rest < vectors * LANES ? rest : vectors * LANES, (int)vectors};
}

/* X of (samples, inputs) as panels of (samples, vectors, LANES), filled up with zeros. */
INLINE void pack_panels(Connected layer, const float *x, float *packed)
{
    for (Py_ssize_t first = 0; first < layer.inputs;) {
        Panel panel = panel_from(first, layer.inputs);
        Py_ssize_t wide = panel.vectors * LANES;
        for (Py_ssize_t sample = 0; sample < layer.samples; ++sample, packed += wide) {
            memcpy(packed, x + sample * layer.inputs + first, sizeof(float) * (size_t)panel.width);
            memset(packed + panel.width, 0, sizeof(float) * (size_t)(wide - panel.width));
        }
        first += wide;
    }
}

INLINE void find_wild(Connected layer, const float *x, uint32_t *wild)
{
    const uint32_t exponent = 0x7f800000;
    for (Py_ssize_t sample = 0; sample < layer.samples; ++sample, x += layer.inputs) {
        uint32_t found = 0, pattern;
        for (Py_ssize_t i = 0; i < layer.inputs; ++i) {
            memcpy(&pattern, x + i, sizeof pattern);
            found |= (pattern & exponent) == exponent;
        }
        wild[sample] = found;
    }
}

/* The terms of `count` outputs from the first one of `d` on, found without a branch: chance decides what is zero. */
INLINE void list_terms(Connected layer, const float *restrict d, Py_ssize_t count, Prepared *prepared)
{
    Term *restrict terms = prepared->terms;
    const uint32_t *restrict wild = prepared->wild;
    Py_ssize_t end = 0;
    for (Py_ssize_t output = 0; output < count; ++output) {
        for (Py_ssize_t sample = 0; sample < layer.samples; ++sample) {
            uint32_t pattern;
            terms[end].factor = d[sample * layer.outputs + output];
            terms[end].row = (uint32_t)sample;
            memcpy(&pattern, &d[sample * layer.outputs + output], sizeof pattern);
            end += ((pattern << 1) | wild[sample]) != 0; /* neither 0 nor -0 */
        }
        prepared->ends[output] = end;
    }
}

/* One panel's part of one row of dW. What is beyond the row belongs to others, and a last vector that is not full is
 * written in part. `hold` is explained in forward.h. */
INLINE void add_terms(const float *restrict packed, const Term *restrict terms, Py_ssize_t count, Panel panel,
                      int vectors, float *restrict out, int hold)
{
    lanes sums[PANEL];
    for (int k = 0; k < vectors; ++k)
        sums[k] = (lanes){0};
    for (Py_ssize_t term = 0; term < count; ++term) {
        const float *restrict seen = packed + (Py_ssize_t)terms[term].row * vectors * LANES;
        lanes factor = terms[term].factor - (lanes){0};
        HOLD(hold, factor);
        for (int k = 0; k < vectors; ++k)
            sums[k] += factor * *(const lanes *)(seen + LANES * k);
    }
    for (int k = 0; k < vectors - 1; ++k)
        *(loose *)(out + LANES * k) = sums[k];
    lanes last = sums[vectors - 1];
    Py_ssize_t done = LANES * (vectors - 1);
    if (panel.width == done + LANES)
        *(loose *)(out + done) = last;
    else
        memcpy(out + done, &last, sizeof(float) * (size_t)(panel.width - done));
}

/* One panel of a block of rows. Each row is fetched while rows before it are computed: the processor does not foresee
 * these jumps by itself. */
INLINE void add_rows(Connected layer, const Prepared *prepared, Py_ssize_t count, Panel panel, int vectors, float *out,
                     int hold)
{
    const float *packed = prepared->packed + layer.samples * panel.first;
    Py_ssize_t from = 0;
    for (Py_ssize_t output = 0; output < count; ++output) {
        Py_ssize_t ahead = output + ROWS_AHEAD < count ? output + ROWS_AHEAD : count - 1;
        for (Py_ssize_t i = 0; i < panel.width; i += 2 * LANES)
            __builtin_prefetch(out + ahead * layer.inputs + panel.first + i, 1);
        add_terms(packed, prepared->terms + from, prepared->ends[output] - from, panel, vectors,
                  out + output * layer.inputs + panel.first, hold);
        from = prepared->ends[output];
    }
}

#define ROWS_OF(number)                                                           \
    case number:                                                                  \
        add_rows(layer, prepared, count, panel, number, out, hold);               \
        break
INLINE void add_block(Connected layer, const Prepared *prepared, Py_ssize_t count, float *out, int hold)
{
    for (Py_ssize_t first = 0; first < layer.inputs;) {
        Panel panel = panel_from(first, layer.inputs);
        switch (panel.vectors) {
            ROWS_OF(1);
            ROWS_OF(2);
            ROWS_OF(3);
            ROWS_OF(4);
            ROWS_OF(5);
            ROWS_OF(6);
            ROWS_OF(7);
            ROWS_OF(8);
            ROWS_OF(9);
        default:
            add_rows(layer, prepared, count, panel, PANEL, out, hold);
        }
        first += panel.vectors * LANES;
    }
}

INLINE void one_worker(Connected layer, const float *d, const float *x, Prepared *prepared, float *restrict weights,
                       float *restrict biases, int hold)
{
    pack_panels(layer, x, prepared->packed);
    find_wild(layer, x, prepared->wild);
    memset(biases, 0, sizeof(float) * (size_t)layer.outputs);
    for (Py_ssize_t sample = 0; sample < layer.samples; ++sample)
        for (Py_ssize_t output = 0; output < layer.outputs; ++output)
            biases[output] += d[sample * layer.outputs + output];
    for (Py_ssize_t first = 0; first < layer.outputs; first += OUTPUTS_PER_BLOCK) {
        Py_ssize_t left = layer.outputs - first, count = left < OUTPUTS_PER_BLOCK ? left : OUTPUTS_PER_BLOCK;
        list_terms(layer, d + first, count, prepared);
        add_block(layer, prepared, count, weights + first * layer.inputs, hold);
    }
}

#ifdef WIDE
static WIDE void one_worker_wide(Connected layer, const float *d, const float *x, Prepared *prepared, float *weights,
                                 float *biases)
{
    one_worker(layer, d, x, prepared, weights, biases, 1);
}
#endif

static void one_worker_plain(Connected layer, const float *d, const float *x, Prepared *prepared, float *weights,
                             float *biases)
{
    one_worker(layer, d, x, prepared, weights, biases, 0);
}

/* A worker's weights begin `weight_step` numbers after those of the worker before, and its biases `bias_step`. */
static int run_linear(Connected layer, const float *d, const float *x, float *weights, Py_ssize_t weight_step,
                      float *biases, Py_ssize_t bias_step)
{
    size_t samples = (size_t)layer.samples, line = 64;
    size_t panels = sizeof(float) * samples * (size_t)padded(layer.inputs);
    size_t room = panels + samples * OUTPUTS_PER_BLOCK * sizeof(Term) + samples * sizeof(uint32_t);
    Prepared prepared = {.packed = aligned_alloc(line, (room + line - 1) / line * line)};
    if (!prepared.packed)
        return -1;
    prepared.terms = (Term *)(prepared.packed + samples * (size_t)padded(layer.inputs));
    prepared.wild = (uint32_t *)(prepared.terms + samples * OUTPUTS_PER_BLOCK);
    for (Py_ssize_t worker = 0; worker < layer.workers; ++worker) {
#ifdef WIDE
        if (is_wide())
            one_worker_wide(layer, d, x, &prepared, weights, biases);
        else
#endif
            one_worker_plain(layer, d, x, &prepared, weights, biases);
        d += layer.samples * layer.outputs;
        x += layer.samples * layer.inputs;
        weights += weight_step;
        biases += bias_step;
    }
    free(prepared.packed);
    return 0;
}
