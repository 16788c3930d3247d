/* Windows of one colour: where a sample with one channel does not change within the 6 x 6 inputs of a window, as in the
 * background of a drawing, all four places are alike, and equal to those of every other window of that colour. */

static int may_be_flat(Shape shape) { return shape.channels == 1 && shape.width >= LANES; }

/* Whether all inputs of a window are equal; of the last window of a row, vectors begin before it. */
INLINE int is_flat(const float *corner, Py_ssize_t row, int is_last)
{
    const float *start = is_last ? corner - (LANES - KERNEL - 1) : corner;
    lanes colour = (lanes){0} + corner[0];
    bits differs = {0};
    for (int line = 0; line <= KERNEL; ++line)
        differs |= (lanes) * (const loose *)(start + line * row) != colour;
    pairs all = (pairs)differs;
    return ((all[1] | all[2]) | (is_last ? all[3] : all[0])) == 0;
}
