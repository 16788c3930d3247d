/* The geometric median of few vectors in general position, from their squared distances, with inner products about a
 * point between them where distances differ very much.
 *
 * The same method, step by step, as kappaguard.rules.weiszfeld, which states the mathematics; the names are the
 * same. What that module treats specially (infinite distances, very unequal ones without inner products, vectors on
 * one line, a search that stalls) is left to it: the answer is then LEFT.
 */

enum { FOUND = 0, LEFT = 1 };

/* What decides which way is taken, see kappaguard.rules.geometry and kappaguard.rules.weiszfeld. */
typedef struct {
    double widest, same, farther, collinear, tolerance;
    long most_steps, halvings;
} Limits;

typedef struct {
    long n;
    const double *radius, *directions;
    double *distance, *along, *inverse;
    double value, gradient, square, slope_sum;
    double *scratch;
} MedianPoint;

static double bounded_cosine(double cosine) { return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine; }

static double norm_of(const MedianPoint *s, const double *coefficients)
{
    double total = 0;
    for (long j = 0; j < s->n; ++j) {
        double row = 0;
        for (long k = 0; k < s->n; ++k)
            row += s->directions[j * s->n + k] * coefficients[k];
        total += row * coefficients[j];
    }
    return total > 0 ? sqrt(total) : 0;
}

/* Fills in what the point at `position` sees. */
static void look(MedianPoint *s, const double *position)
{
    double square = 0, value = 0, sum = 0;
    for (long j = 0; j < s->n; ++j) {
        double row = 0;
        for (long k = 0; k < s->n; ++k)
            row += s->directions[j * s->n + k] * position[k];
        s->along[j] = row;
        square += row * position[j];
    }
    for (long j = 0; j < s->n; ++j) {
        double r = s->radius[j], change = square - 2 * r * s->along[j], squares = r * r + change;
        int counted = squares > 0;
        s->distance[j] = counted ? sqrt(squares) : 1;
        s->inverse[j] = counted ? 1 / s->distance[j] : 0;
        value += counted ? change / (s->distance[j] + r) : -r;
        sum += s->inverse[j];
    }
    for (long j = 0; j < s->n; ++j)
        s->scratch[j] = sum * position[j] - s->radius[j] * s->inverse[j];
    s->square = square, s->value = value, s->slope_sum = sum;
    s->gradient = norm_of(s, s->scratch);
}

/* share with (a I - diag(1/d) C) share = 1, through the symmetric positive definite form; LEFT if it is not. */
static int solve_shares(const MedianPoint *s, double *matrix, double *share)
{
    long n = s->n;
    for (long j = 0; j < n; ++j) {
        if (s->inverse[j] == 0)
            return LEFT;
        for (long k = 0; k <= j; ++k) {
            double inner = s->radius[j] * s->radius[k] * s->directions[j * n + k] - s->radius[j] * s->along[j] -
                           s->radius[k] * s->along[k] + s->square;
            double cosine = inner * s->inverse[j] * s->inverse[k];
            cosine = bounded_cosine(cosine);
            matrix[j * n + k] = (j == k ? s->slope_sum : 0) - cosine * sqrt(s->inverse[j] * s->inverse[k]);
        }
    }
    for (long j = 0; j < n; ++j) {
        for (long k = 0; k < j; ++k) {
            double sum = matrix[j * n + k];
            for (long l = 0; l < k; ++l)
                sum -= matrix[j * n + l] * matrix[k * n + l];
            matrix[j * n + k] = sum / matrix[k * n + k];
        }
        double pivot = matrix[j * n + j];
        for (long l = 0; l < j; ++l)
            pivot -= matrix[j * n + l] * matrix[j * n + l];
        if (!(pivot > 1e-12 * s->slope_sum))
            return LEFT;
        matrix[j * n + j] = sqrt(pivot);
    }
    for (long j = 0; j < n; ++j) {
        double sum = 1 / sqrt(s->inverse[j]);
        for (long l = 0; l < j; ++l)
            sum -= matrix[j * n + l] * share[l];
        share[j] = sum / matrix[j * n + j];
    }
    for (long j = n - 1; j >= 0; --j) {
        double sum = share[j];
        for (long l = j + 1; l < n; ++l)
            sum -= matrix[l * n + j] * share[l];
        share[j] = sum / matrix[j * n + j];
    }
    for (long j = 0; j < n; ++j)
        share[j] *= sqrt(s->inverse[j]);
    return FOUND;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_distance(const MedianPoint *s, double *sorted)
{
    memcpy(sorted, s->distance, sizeof(double) * (size_t)s->n);
    qsort(sorted, (size_t)s->n, sizeof(double), by_size);
    return sorted[s->n / 2];
}

static int descend(MedianPoint *s, double *position, double *trial, double *target, double *share, double *matrix,
                   const Limits *limits)
{
    look(s, position);
    for (long round = 0; round < limits->most_steps; ++round) {
        if (solve_shares(s, matrix, share) == LEFT)
            return LEFT;
        double total = 0, unit = median_distance(s, trial);
        for (long j = 0; j < s->n; ++j)
            total += share[j] * s->inverse[j];
        for (long j = 0; j < s->n; ++j)
            target[j] = share[j] * s->inverse[j] * s->radius[j] - position[j] * total;
        double length = norm_of(s, target), decrement = s->gradient * length;
        double value = s->value, gradient = s->gradient, step = 1;
        int last = length <= limits->tolerance * unit && (gradient <= 1e-6 || length <= 1e-15 * unit), accepted = 0;
        for (long half = 0; half < limits->halvings && !accepted; ++half, step /= 2) {
            for (long j = 0; j < s->n; ++j)
                trial[j] = position[j] + step * target[j];
            look(s, trial);
            accepted = s->value <= value - 1e-4 * step * decrement ||
                       (s->gradient < gradient && s->value <= value + 1e-12 * unit);
            if (last)
                break;
        }
        if (accepted)
            memcpy(position, trial, sizeof(double) * (size_t)s->n);
        if (last)
            return FOUND;
        if (!accepted)
            return LEFT;
    }
    return LEFT;
}

/* The weights of the median as the vector `pivot` sees all vectors. */
static int median_from_view(const double *radius, const double *directions, long n, long pivot,
                            const Limits *limits, double *weights)
{
    double pull = 0, here = 0, inverse = 0;
    int on_line = 1;
    for (long j = 0; j < n; ++j) {
        weights[j] = j == pivot;
        if (radius[j] > 0)
            inverse += 1 / radius[j];
        else
            here += 1;
        for (long k = 0; k < n; ++k) {
            double cosine = directions[j * n + k];
            on_line &= radius[j] == 0 || radius[k] == 0 || fabs(cosine) >= 1 - limits->collinear;
            pull += cosine;
        }
    }
    if (on_line)
        return LEFT;
    pull = pull > 0 ? sqrt(pull) : 0;
    if (pull <= here * (1 + 1e-15 * (double)n))
        return FOUND;
    double *memory = malloc(sizeof(double) * (size_t)(n * n + 8 * n));
    if (!memory)
        return -1;
    double *matrix = memory, *position = matrix + n * n, *rows = position + n;
    for (long j = 0; j < n; ++j)
        position[j] = radius[j] > 0 ? (1 - here / pull) / inverse : 0;
    MedianPoint sight = {.n = n, .radius = radius, .directions = directions, .distance = rows, .along = rows + n,
                   .inverse = rows + 2 * n, .scratch = rows + 3 * n};
    int status = descend(&sight, position, rows + 4 * n, rows + 5 * n, rows + 6 * n, matrix, limits);
    double rest = 1;
    for (long j = 0; j < n; ++j) {
        weights[j] = radius[j] > 0 ? position[j] / radius[j] : 0;
        rest -= weights[j];
    }
    weights[pivot] = rest;
    free(memory);
    return status;
}

static long medoid(const double *squares, long n)
{
    long best = 0;
    double least = INFINITY;
    for (long i = 0; i < n; ++i) {
        double total = 0;
        for (long j = 0; j < n; ++j)
            total += sqrt(squares[i * n + j]);
        if (total < least)
            least = total, best = i;
    }
    return isfinite(least) ? best : -1;
}

/* Whether the largest distance from the pivot is more than `widest` times the smallest that is not zero. */
static int is_wide(const double *radius, long n, double widest)
{
    double nearest = INFINITY, farthest = 0;
    for (long j = 0; j < n; ++j)
        if (radius[j] > 0) {
            nearest = radius[j] < nearest ? radius[j] : nearest;
            farthest = radius[j] > farthest ? radius[j] : farthest;
        }
    return farthest > widest * nearest;
}

/* Directions by the law of cosines: for distances that do not differ too much. */
static void directions_from_squares(const double *squares, const double *radius, long n, double *directions)
{
    for (long j = 0; j < n; ++j)
        for (long k = 0; k < n; ++k) {
            double product = radius[j] * radius[k];
            double inner = (radius[j] * radius[j] + radius[k] * radius[k] - squares[j * n + k]) / 2;
            directions[j * n + k] = product > 0 ? bounded_cosine(inner / product) : 0;
        }
}

/* Directions from inner products about another point k: G_ij - G_ip - G_pj + G_pp. LEFT if k sees a vector from more
 * than `farther` times the pivot's distance, for then digits are lost. */
static int directions_from_gram(const double *gram, const double *radius, long n, long pivot, double farther,
                                double *directions)
{
    for (long j = 0; j < n; ++j)
        if (radius[j] > 0 && !(gram[j * n + j] <= farther * farther * radius[j] * radius[j]))
            return LEFT;
    for (long j = 0; j < n; ++j)
        for (long k = 0; k < n; ++k) {
            double inner = gram[j * n + k] - gram[j * n + pivot] - gram[pivot * n + k] + gram[pivot * n + pivot];
            double cosine = j == k ? 1 : bounded_cosine(inner / radius[j] / radius[k]);
            directions[j * n + k] = radius[j] > 0 && radius[k] > 0 ? cosine : 0;
        }
    return FOUND;
}

/* The vector with the smallest sum of distances, where far vectors swamp a plain sum:
 * ||x_i - x_j|| - r_j = (r_i^2 - 2 r_i r_j V_ij) / (||x_i - x_j|| + r_j). */
static long better_vertex(const double *radius, const double *directions, long n)
{
    long best = 0;
    double least = INFINITY;
    for (long i = 0; i < n; ++i) {
        double total = 0;
        for (long j = 0; j < n; ++j) {
            double change = radius[i] * (radius[i] - 2 * radius[j] * directions[i * n + j]);
            double square = radius[j] * radius[j] + change, sum = (square > 0 ? sqrt(square) : 0) + radius[j];
            total += sum > 0 ? change / sum : 0;
        }
        if (total < least)
            least = total, best = i;
    }
    return best;
}

static void look_from(const double *squares, long n, long pivot, double same, double *radius, double *sorted)
{
    for (long j = 0; j < n; ++j)
        sorted[j] = radius[j] = sqrt(squares[pivot * n + j]);
    qsort(sorted, (size_t)n, sizeof(double), by_size);
    for (long j = 0; j < n; ++j)
        if (radius[j] <= same * sorted[n / 2])
            radius[j] = 0;
}

/* The weights of the median from squared distances, and, if they differ too much for that alone, from inner products
 * about a point between the vectors, if there are such. */
static int general_median(const double *squares, const double *gram, long n, const Limits *limits, double *weights)
{
    double *memory = malloc(sizeof(double) * (size_t)(n * n + 2 * n));
    if (!memory)
        return -1;
    double *directions = memory, *radius = memory + n * n, *sorted = radius + n;
    int status = LEFT;
    long pivot = medoid(squares, n);
    if (pivot < 0)
        goto done;
    look_from(squares, n, pivot, limits->same, radius, sorted);
    if (!is_wide(radius, n, limits->widest))
        directions_from_squares(squares, radius, n, directions);
    else {
        if (!gram || directions_from_gram(gram, radius, n, pivot, limits->farther, directions) == LEFT)
            goto done;
        long better = better_vertex(radius, directions, n);
        if (better != pivot) {
            pivot = better;
            look_from(squares, n, pivot, limits->same, radius, sorted);
            if (directions_from_gram(gram, radius, n, pivot, limits->farther, directions) == LEFT)
                goto done;
        }
    }
    status = median_from_view(radius, directions, n, pivot, limits, weights);
done:
    free(memory);
    return status;
}
