/* Contacts, end stops and dry friction, by a time-stepping method (Moreau 1988, Jean 1999).

   Each of them has rows of relative velocities u: one along which it opens, if it is a contact, and up to two across, if
   it sticks or slides. With the impulses x of a step, which are their pushes,

       u = W x + b,    0 <= x_n, 0 <= u_n, x_n u_n = 0,    |x_t| <= mu x_n, x_t against u_t where it slides.

   They are improved one after the other (projected Gauss-Seidel). Some sweeps begin with a step that solves the equations
   of all that push, stick and slide as a whole, up to where the first one of them would leave its cone. */

#define NQ MACHINE_NQ
#define NV MACHINE_NV
#define NU MACHINE_NU
#define GAPS MACHINE_CONTACTS  /* of contacts, which come first */
#define TOUCHES MACHINE_TOUCHES /* contacts, and dry friction that sticks and slides */
#define PUSHES MACHINE_PUSHES  /* rows of all */
#define SWEEPS MACHINE_SWEEPS
#define CORRECTIONS MACHINE_CORRECTIONS
#define ROUND 10       /* sweeps */
#define WHOLE 5        /* of a round, the last ones: they begin with a step for all */
#define YIELD 1e-8     /* of the mobility of a row: rows that others imply yield so much, and push apart those that cannot
                          stick together */
#define IMMOBILE 1e-10 /* of the mobility without loops: less is none, a push has no effect */
#define EDGE 1e-12     /* of the largest friction: what is nearer to it slides */
#define TINY 1e-300    /* above zero */
#define GAIN 1e-9      /* of the work of an impact: more than rounding is energy made by friction and rebound */

typedef struct {
    int count, rows;     /* how many there are, and their rows */
    const int *first;    /* row of each, and the end */
    const int *pushes;   /* whether the first row is one along which it opens */
    const double *W, *b; /* (rows, rows) and (rows) */
    const double *mu;    /* of each: coefficient, negative where it sticks whatever this takes; without push a bound */
    double *gain;        /* (rows): 1 / W_ii, zero where a push has no effect */
} machine_problem;

static double machine_velocity(const machine_problem *of, const double *x, int i)
{
    double u = of->b[i];
    int j;
    for (j = 0; j < of->rows; j++) {
        u += of->W[i * of->rows + j] * x[j];
    }
    return u;
}

/* How large friction of one of them may be; negative where it has no bound. */
static double machine_bound(const machine_problem *of, const double *x, int k)
{
    const double push = of->pushes[k] ? x[of->first[k]] : 1.0;
    return push > 0.0 ? push * of->mu[k] : 0.0;
}

/* Improves friction of one of them in two rows; returns the change, J^(1/2). */
static double machine_rub(const machine_problem *of, double *x, int i, double bound)
{
    const double *W = of->W + i * of->rows + i;
    const double a = W[0], d = W[of->rows + 1], c = W[1];
    const double most = 0.5 * (a + d) + sqrt(0.25 * (a - d) * (a - d) + c * c);
    double y = x[i], z = x[i + 1], size;
    if (of->gain[i] > 0.0) {
        y -= machine_velocity(of, x, i) / most;
    }
    if (of->gain[i + 1] > 0.0) {
        z -= machine_velocity(of, x, i + 1) / most;
    }
    size = sqrt(y * y + z * z);
    if (bound >= 0.0 && size > bound) {
        y *= bound / size;
        z *= bound / size;
    }
    size = sqrt(most * ((y - x[i]) * (y - x[i]) + (z - x[i + 1]) * (z - x[i + 1])));
    x[i] = y;
    x[i + 1] = z;
    return size;
}

/* Improves one row; returns the change, J^(1/2). */
static double machine_improve(const machine_problem *of, double *x, int i, double least, double most)
{
    double y = x[i] - of->gain[i] * machine_velocity(of, x, i), change;
    y = (y < least) ? least : y;
    y = (y > most) ? most : y;
    change = fabs(y - x[i]) * sqrt(fabs(of->W[i * of->rows + i]));
    x[i] = y;
    return change;
}

/* Solves for one contact with one row across; returns whether there is a solution, and it is in y. */
static int machine_solve(const machine_problem *of, const double *x, int i, double mu, double *y)
{
    const double a = of->W[i * of->rows + i], c = of->W[i * of->rows + i + 1], d = of->W[(i + 1) * of->rows + i + 1];
    const double un = machine_velocity(of, x, i) - a * x[i] - c * x[i + 1]; /* without its own push */
    const double ut = machine_velocity(of, x, i + 1) - c * x[i] - d * x[i + 1];
    const double pivot = a * d - c * c;
    double side;
    if (un >= 0.0) {
        y[0] = 0.0;
        y[1] = 0.0;
        return 1;
    }
    if (pivot > IMMOBILE * a * d) {
        y[0] = (c * ut - d * un) / pivot;
        y[1] = (c * un - a * ut) / pivot;
        if (y[0] >= 0.0 && (mu < 0.0 || fabs(y[1]) <= mu * y[0])) {
            return 1;
        }
    }
    for (side = 1.0; side >= -1.0 && mu >= 0.0; side -= 2.0) { /* slides to one side or to the other */
        const double reply = a - side * mu * c;
        y[0] = reply > IMMOBILE * a ? -un / reply : -1.0;
        y[1] = -side * mu * y[0];
        if (y[0] >= 0.0 && side * (ut + c * y[0] + d * y[1]) >= 0.0) {
            return 1;
        }
    }
    return 0;
}

/* One sweep through all of them; returns the largest change, J^(1/2). */
static double machine_sweep(const machine_problem *of, double *x)
{
    double largest = 0.0;
    int k;
    for (k = 0; k < of->count; k++) {
        int i = of->first[k];
        double change = 0.0, bound, y[2];
        if (of->pushes[k] && of->first[k + 1] - i == 2 && of->gain[i] > 0.0 && of->gain[i + 1] > 0.0 &&
            machine_solve(of, x, i, of->mu[k], y)) {
            change = fmax(fabs(y[0] - x[i]) * sqrt(of->W[i * of->rows + i]),
                          fabs(y[1] - x[i + 1]) * sqrt(of->W[(i + 1) * of->rows + i + 1]));
            x[i] = y[0];
            x[i + 1] = y[1];
        } else {
            if (of->pushes[k]) {
                change = machine_improve(of, x, i, 0.0, HUGE_VAL);
                i++;
            }
            largest = !(change <= largest) ? change : largest;
            bound = machine_bound(of, x, k);
            if (of->first[k + 1] - i == 2) {
                change = machine_rub(of, x, i, bound);
            } else if (of->first[k + 1] - i == 1) {
                change = machine_improve(of, x, i, bound < 0.0 ? -HUGE_VAL : -bound, bound < 0.0 ? HUGE_VAL : bound);
            }
        }
        largest = !(change <= largest) ? change : largest;
    }
    return largest;
}

/* Which pushes are unknown: those of rows that push or stick, and with them friction of what slides, in its direction.

   carrier[i] is the row whose push row i follows, `along` times; itself where it is unknown, -1 where it stays. */
static void machine_carriers(const machine_problem *of, const double *x, int *carrier, double *along)
{
    int i, k;
    for (k = 0; k < of->count; k++) {
        const int first = of->first[k], across = first + of->pushes[k], end = of->first[k + 1];
        const int closed = !of->pushes[k] || x[first] > 0.0;
        const double bound = machine_bound(of, x, k);
        double size = 0.0;
        for (i = across; i < end; i++) {
            size += x[i] * x[i];
        }
        for (i = first; i < end; i++) {
            const int slides = i >= across && bound >= 0.0 && sqrt(size) >= bound * (1.0 - EDGE);
            carrier[i] = closed && !slides && of->gain[i] > 0.0 ? i : -1;
            along[i] = 1.0;
            if (slides && closed && across > first) {
                carrier[i] = carrier[first];
                along[i] = x[i] / x[first];
            }
        }
    }
}

/* Solves n equations, row by row in S with the right side behind each, by elimination; the solution is that column. */
static void machine_eliminate(double *S, int n)
{
    const int width = PUSHES + 1;
    int i, j, r;
    for (j = 0; j < n; j++) {
        int best = j;
        for (r = j + 1; r < n; r++) {
            best = fabs(S[r * width + j]) > fabs(S[best * width + j]) ? r : best;
        }
        for (i = j; i <= n; i++) {
            const double kept = S[best * width + i];
            S[best * width + i] = S[j * width + i];
            S[j * width + i] = kept;
        }
        for (r = j + 1; r < n; r++) {
            const double part = S[r * width + j] / S[j * width + j];
            for (i = j; i <= n; i++) {
                S[r * width + i] -= part * S[j * width + i];
            }
        }
    }
    for (j = n - 1; j >= 0; j--) {
        for (i = j + 1; i < n; i++) {
            S[j * width + n] -= S[j * width + i] * S[i * width + n];
        }
        S[j * width + n] /= S[j * width + j];
    }
}

/* The part of a change d that one of them can take without leaving its cone, at most `part`. */
static double machine_part(const machine_problem *of, const double *x, const double *d, int k, double part)
{
    const int first = of->first[k], across = first + of->pushes[k];
    const double mu = of->mu[k], push = of->pushes[k] ? x[first] : 1.0, rise = of->pushes[k] ? d[first] : 0.0;
    double a = -mu * mu * rise * rise, b = -mu * mu * push * rise, c = -mu * mu * push * push, root;
    int i;
    if (push + part * rise < 0.0) {
        part = push / -rise;
    }
    for (i = across; i < of->first[k + 1]; i++) {
        a += d[i] * d[i];
        b += x[i] * d[i];
        c += x[i] * x[i];
    }
    /* a part^2 + 2 b part + c = 0 where friction is as large as it may be; what slides, c = 0, stays there by itself */
    if (mu >= 0.0 && c < -EDGE * mu * mu * push * push && (a * part + 2.0 * b) * part + c > 0.0) {
        root = b + sqrt(fmax(b * b - a * c, 0.0));
        part = root > 0.0 ? fmin(part, -c / root) : part;
    }
    return part;
}

/* A step of all that push, stick and slide to where u = 0 for them; only to where the first one leaves its cone, and that
   one is put on it. */
static void machine_whole(const machine_problem *of, double *x)
{
    double S[PUSHES * (PUSHES + 1)], along[PUSHES], d[PUSHES], part = 1.0, size = 0.0;
    int carrier[PUSHES], place[PUSHES], own[PUSHES], n = 0, at = -1, i, j, k, r;
    machine_carriers(of, x, carrier, along);
    for (i = 0; i < of->rows; i++) {
        place[i] = n;
        if (carrier[i] == i) {
            own[n++] = i;
        }
    }
    for (r = 0; r < n; r++) {
        double *row = S + r * (PUSHES + 1);
        const double *W = of->W + own[r] * of->rows;
        for (j = 0; j < n; j++) {
            row[j] = 0.0;
        }
        for (i = 0; i < of->rows; i++) {
            if (carrier[i] >= 0) {
                row[place[carrier[i]]] += along[i] * W[i];
            }
        }
        row[r] += YIELD * W[own[r]];
        row[n] = -machine_velocity(of, x, own[r]);
    }
    machine_eliminate(S, n);
    for (i = 0; i < of->rows; i++) {
        d[i] = carrier[i] >= 0 ? along[i] * S[place[carrier[i]] * (PUSHES + 1) + n] : 0.0;
    }
    if (!all_finite(d, of->rows)) {
        return;
    }
    for (k = 0; k < of->count; k++) {
        const double most = machine_part(of, x, d, k, part);
        at = most < part ? k : at;
        part = fmin(part, most);
    }
    for (i = 0; i < of->rows; i++) {
        x[i] += part * d[i];
    }
    if (at >= 0) {
        const int first = of->first[at], across = first + of->pushes[at], end = of->first[at + 1];
        const double push = of->pushes[at] ? x[first] : 1.0;
        for (i = across; i < end; i++) {
            size += x[i] * x[i];
        }
        size = sqrt(size);
        for (i = across; i < end && of->mu[at] >= 0.0 && size > 0.0; i++) {
            x[i] *= fmax(of->mu[at] * push, 0.0) / size;
        }
        for (i = first; i < end && of->pushes[at] && d[first] < 0.0 && push <= EDGE * -d[first]; i++) {
            x[i] = 0.0;
        }
    }
}

/* Pushes, from those of the last step or from zero, until a sweep changes no more than `enough`, J^(1/2); the change of the
   sweep that was best is `left`. Returns the number of sweeps. */
static int machine_settle(const machine_problem *of, double enough, double *x, double *left)
{
    double best[PUSHES], change;
    int n, i;
    for (i = 0; i < of->rows; i++) {
        x[i] = of->gain[i] > 0.0 ? x[i] : 0.0;
    }
    *left = HUGE_VAL;
    for (n = 0; n < SWEEPS && !(*left <= enough); n++) {
        if (n % ROUND >= ROUND - WHOLE) {
            machine_whole(of, x);
        }
        change = machine_sweep(of, x);
        if (change < *left) {
            *left = change;
            take(best, x, of->rows);
        }
    }
    if (*left < HUGE_VAL) {
        take(x, best, of->rows);
    }
    return n;
}

/* Where pushes have an effect; and the size of motions b, J^(1/2), of rows that would come together. */
static double machine_gains(const machine_problem *of, const double *mobility, const double *motion)
{
    double size = 0.0;
    int i;
    for (i = 0; i < of->rows; i++) {
        const double own = of->W[i * of->rows + i];
        of->gain[i] = own > IMMOBILE * mobility[i] ? 1.0 / own : 0.0;
        size = fmax(size, motion[i] * motion[i] * of->gain[i]);
    }
    return sqrt(size);
}

/* y += X' x, of so many rows. */
static void machine_add(double *y, const double *X, const double *x, int rows)
{
    int i, j;
    for (i = 0; i < rows; i++) {
        for (j = 0; j < NV; j++) {
            y[j] += X[i * NV + j] * x[i];
        }
    }
}

/* Moves q by d. */
static int machine_move(const double *p, double *q, const double *d)
{
    double x[NQ + NV];
    take(x, q, NQ);
    take(x + NQ, d, NV);
    return machine_contact_step_moved(p, x, q) == 0 ? MACHINE_STATUS_OK : MACHINE_STATUS_COMPARISON;
}

/* One step of Gauss and Newton onto closed loops and out of contacts, in the metric of M. */
static int machine_land(const double *p, double *q, double tolerance, double *closeness)
{
    static const double none[GAPS + 1] = {0.0};
    double y[3 + NV + GAPS * (2 + GAPS + NV)], gain[GAPS + 1], push[GAPS + 1], into[GAPS + 1] = {0.0}, left;
    double *const d = y + 3, *const gap = d + NV, *const mobility = gap + GAPS;
    double *const W = mobility + GAPS, *const X = W + GAPS * GAPS;
    const machine_problem of = {GAPS, GAPS, machine_alone, machine_opens, W, gap, none, gain};
    int k;
    if (machine_contact_step_landing(p, q, y) != 0) {
        return MACHINE_STATUS_COMPARISON;
    }
    *closeness = fmin(*closeness, y[2]);
    if (!(y[0] > 0.0)) {
        return MACHINE_STATUS_NEAR_SINGULAR;
    }
    if (!(y[1] > 0.0)) {
        return MACHINE_STATUS_MASS_MATRIX;
    }
    for (k = 0; k < GAPS; k++) {
        push[k] = 0.0;
        into[k] = fmin(gap[k], 0.0);
    }
    (void)machine_settle(&of, tolerance * machine_gains(&of, mobility, into), push, &left);
    machine_add(d, X, push, GAPS);
    return machine_move(p, q, d);
}

/* A step: x holds q, v, u, dt and the pushes of the last step; y what is said of the next one, in the order of the
   header. */
static int machine_contact_step_body(const double *p, const double *x, double *y)
{
    const double *const last = x + NQ + NV + NU + 1, dt = x[NQ + NV + NU];
    double *const q = y, *const v = q + NQ, *const push = v + NV, *const gap = push + PUSHES;
    double *const report = gap + GAPS, *const closeness = report + MACHINE_REPORTS;
    double s[5 + NV + 3 * PUSHES + 3 * GAPS + TOUCHES + PUSHES * (PUSHES + NV)];
    double *const free = s + 5, *const before = free + NV, *const after = before + PUSHES;
    double *const mobility = after + PUSHES, *const ahead = mobility + PUSHES, *const restitution = ahead + GAPS;
    double *const rest = restitution + GAPS, *const mu = rest + GAPS, *const W = mu + TOUCHES;
    double *const X = W + PUSHES * PUSHES;
    double b[PUSHES], gain[PUSHES], open[2 + GAPS], moved[NV], enough, gained, size;
    const machine_problem of = {TOUCHES, PUSHES, machine_first, machine_opens, W, b, mu, gain};
    int i, k, bounces = 1, status = MACHINE_STATUS_OK, n;
    if (machine_contact_step_first(p, x, s) != 0) {
        return MACHINE_STATUS_COMPARISON;
    }
    *closeness = s[3];
    if (!(s[0] > 0.0)) {
        return MACHINE_STATUS_NEAR_SINGULAR;
    }
    if (!(s[1] > 0.0)) {
        return MACHINE_STATUS_MASS_MATRIX;
    }
    if (!(s[2] > 0.0)) {
        return MACHINE_STATUS_STEP;
    }
    if (!all_finite(s, (int)(sizeof s / sizeof s[0]))) {
        return MACHINE_STATUS_NOT_FINITE;
    }
    for (i = 0; i < MACHINE_REPORTS; i++) {
        report[i] = 0.0;
    }
    enough = s[4] * fmax(machine_gains(&of, mobility, after), machine_gains(&of, mobility, before));
    while (bounces) { /* at most twice */
        bounces = 0;
        take(b, after, PUSHES);
        for (k = 0; k < GAPS; k++) {
            const double rebound = -restitution[k] * before[machine_first[k]];
            i = machine_first[k];
            if (report[MACHINE_REPORT_WORK] <= 0.0 && !(last[i] > 0.0) && ahead[k] + dt * after[i] < 0.0 &&
                rebound > rest[k]) {
                b[i] -= rebound;
                bounces = 1;
            } else {
                b[i] += fmax(ahead[k], 0.0) / dt;
            }
        }
        take(push, last, PUSHES);
        report[MACHINE_REPORT_SWEEPS] += (double)machine_settle(&of, enough, push, &report[MACHINE_REPORT_RESIDUAL]);
        gained = 0.0;
        size = 0.0;
        for (i = 0; i < PUSHES; i++) {
            const double work = 0.5 * push[i] * (before[i] + machine_velocity(&of, push, i) + after[i] - b[i]);
            gained += work;
            size += fabs(work);
        }
        report[MACHINE_REPORT_WORK] = gained;
        bounces = bounces && gained > GAIN * size; /* friction and rebound would make energy (Kane): no rebound */
    }
    if (!(report[MACHINE_REPORT_RESIDUAL] <= enough)) {
        status = MACHINE_STATUS_ITERATIONS;
    }
    take(v, free, NV);
    machine_add(v, X, push, PUSHES);
    for (i = 0; i < NV; i++) {
        moved[i] = dt * v[i];
    }
    take(q, x, NQ);
    k = machine_move(p, q, moved);
    for (n = 0; k == MACHINE_STATUS_OK && n <= CORRECTIONS; n++) {
        if (machine_contact_step_gaps(p, q, open) != 0) {
            k = MACHINE_STATUS_COMPARISON;
        } else if (open[0] <= open[1] || n == CORRECTIONS) {
            break;
        } else {
            k = machine_land(p, q, s[4], closeness);
        }
    }
    if (k != MACHINE_STATUS_OK) {
        return k;
    }
    take(gap, open + 2, GAPS);
    report[MACHINE_REPORT_CORRECTIONS] = (double)n;
    report[MACHINE_REPORT_OPEN] = open[0];
    report[MACHINE_REPORT_RESIDUAL] *= s[4] / fmax(enough, TINY);
    return open[0] <= open[1] ? status : MACHINE_STATUS_OPEN;
}
