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

/* The gradients of the layer's inputs, dX = D W, in the same manner: a row of dX is a sum of multiples of rows of W, one
 * for each nonzero number of D. A block of rows of W is cut into panels, each of which serves all samples while it is in
 * the innermost cache. Here `samples` are those of all workers. */
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
