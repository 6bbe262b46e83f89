/* A machine in independent coordinates.

   States are NP entries of q, ND entries of v and NC states of what works in continuous time around it: a law, or the
   drive behind a sampled one. All other entries of q follow
   from phi(q) = 0, those of v from A v = rates. Kept entries stay as they are until the others move more than
   TURN_OVER times as fast: then others are kept, which is an event, or done between two steps of co-simulation.

   With G = [A; rows of kept entries], of full column rank n, in metres:

       positions     G d = [-phi; kept - q],  q moves by E d, until d vanishes (Newton's method)
       velocities    G v = [rates; kept]
       motions       G K = [0; 1],  G a0 = [-b; 0],  a = a0 + K dw/dt
       dynamics      K'M K dw/dt = K'(B u - h - M a0)
       multipliers   G'[lambda; 0] = B u - h - M a, the smallest ones where rows repeat each other
*/

enum { OK, WARNING, DISCARD, ERROR };
enum { INSTANTIATED, INITIALIZATION, EVENTS, CONTINUOUS, STEPPING, TERMINATED };
enum { NOTHING, PLACED, MOVING, MEASURED }; /* what is known of the present state */

#define TURN_OVER 10.0  /* rounding of states is multiplied by no more than this */
#define EXCHANGE 3.0    /* at an event others are kept from here on, so that events stay rare */
#define KEEP 1.5        /* kept ones move at least 1 / KEEP as fast as any other */
#define ITERATIONS 60   /* of Newton's method; with steps of at most REACH, farther than around a full turn */
#define REACH 0.2       /* sizes of the machine, or rad: a step within which Jacobians mean something */
#define SMALL 1e-7      /* a step in sizes of the machine that squares to rounding */
#define CLOSED 1e-10    /* sizes of the machine: gap of closed loops; redundant rows of bad numbers leave more */
#define SINGULAR 1e-9   /* of the largest pivot: rows and kept entries do not determine the machine */

#define ALL (ROWS + NV)

/* All that a saved state holds. */
typedef struct {
    double time, start, next, samples, step;
    double p[NPAR + 1], in[NIN + 1], x[NX + 1];
    double q[NQ], v[NV], base[NQ], law[NLAW + 1], report[NREPORT + 1];
    double command[NU + 1], said[QUEUE * NU + 1], first[NU + 1]; /* what is held, what is under way */
    int kept_q[NP + 1], kept_v[ND + 1];
    int mode;
} State;

typedef void (*Tell)(void *instance, int status, const char *category, const char *message);

typedef struct {
    State s;
    int known, closed;
    double A[ROWS * NV + 1], E[NQ * NV], phi[ROWS + 1], rates[ROWS + 1], b[ROWS + 1];
    double M[NV * NV], h[NV], B[NV * NU + 1];
    double Gq[ALL * NV], rq[NV], Gv[ALL * NV], rv[NV];
    double Kq[NQ * NP + 1], K[NV * ND + 1], H[ND * ND + 1];
    double a[NV], lambda[ROWS + 1], u[NU + 1], dx[NX + 1], y[NY + 1], spread, gap;
    double from[2 * (2 * NQ + 4 * NV + 2 * ROWS + 3 * NU + NACT + NSIGNAL + NLAW + NC + 4)];
    double to[2 * ROWS + ROWS * NV + NQ * NV + NV * NV + 2 * NV + NV * NU + NQ + NY + NU + NLAW + NREPORT + NSIGNAL + NC + 8];
    /* the interface */
    Tell tell;
    void *environment;
    const void *callbacks;
    char *name;
    int logging, exchange, cosimulation;
} Instance;

static void say(Instance *I, int status, const char *format, ...)
{
    static const char *const category[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError"};
    char text[1000];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (I->tell && (status >= DISCARD || I->logging)) {
        I->tell(I, status, category[status], text);
    }
}

static int all_finite(const double *x, int n)
{
    int i;
    for (i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return 0;
        }
    }
    return 1;
}

static double *put(double *to, const double *from, int n)
{
    if (n > 0) {
        memcpy(to, from, (size_t)n * sizeof(double));
    }
    return to + n;
}

static const double *take(double *to, const double *from, int n)
{
    if (n > 0) {
        memcpy(to, from, (size_t)n * sizeof(double));
    }
    return from + n;
}

/* A generated function, at what is in `from`; results are in `to`. */
static int compute(Instance *I, int (*function)(const double *, const double *, double *), const char *what)
{
    if (function(I->s.p, I->from, I->to) != 0) {
        say(I, DISCARD, "t = %.9g s: %s cannot be computed here: the machine was exported at a state where a comparison "
            "is decided otherwise; export it at a configuration q like this one", I->s.time, what);
        return DISCARD;
    }
    return OK;
}

/* G, from A and E of the present q, and its factors. */
static int factor(Instance *I, double *G, double *r, int positions)
{
    const State *s = &I->s;
    int i, j, kept = positions ? NP : ND;
    double most = 0.0, least = HUGE_VAL;
    for (i = 0; i < ROWS; i++) {
        double scale = positions && row_level[i] ? 0.0 : row_scale[i];
        for (j = 0; j < NV; j++) {
            G[i * NV + j] = scale * I->A[i * NV + j] / reach[j];
        }
    }
    for (i = 0; i < kept; i++) {
        for (j = 0; j < NV; j++) {
            G[(ROWS + i) * NV + j] = positions ? q_reach[s->kept_q[i]] * I->E[s->kept_q[i] * NV + j] / reach[j]
                                               : (s->kept_v[i] == j ? 1.0 : 0.0);
        }
    }
    if (qr_factor(G, ROWS + kept, NV, r)) {
        for (j = 0; j < NV; j++) {
            most = fmax(most, fabs(r[j]));
            least = fmin(least, fabs(r[j]));
        }
        if (least > SINGULAR * most) {
            return OK;
        }
    }
    say(I, DISCARD, "t = %.9g s: the machine is at a singular configuration, or its independent coordinates do not "
        "determine it here; start elsewhere, or take shorter steps", s->time);
    return DISCARD;
}

/* A direction in metres to one in coordinates. */
static void unscaled(double *x)
{
    int j;
    for (j = 0; j < NV; j++) {
        x[j] /= reach[j];
    }
}

static int loops(Instance *I)
{
    const double *y = I->to;
    put(I->from, I->s.q, NQ);
    if (compute(I, model_loops, "loops") != OK) {
        return DISCARD;
    }
    y = take(I->phi, y, ROWS);
    y = take(I->A, y, ROWS * NV);
    y = take(I->E, y, NQ * NV);
    take(I->rates, y, ROWS);
    return OK;
}

static int require_finite(Instance *I)
{
    const State *s = &I->s;
    int i;
    for (i = 0; i < NX; i++) {
        if (!isfinite(s->x[i])) {
            say(I, DISCARD, "t = %.9g s: the state %s is %g; set a finite number", s->time, state_names[i], s->x[i]);
            return DISCARD;
        }
    }
    for (i = 0; i < NIN; i++) {
        if (!isfinite(s->in[i])) {
            say(I, DISCARD, "t = %.9g s: the input %s is %g; set a finite number", s->time, input_names[i], s->in[i]);
            return DISCARD;
        }
    }
    for (i = 0; i < NPAR; i++) {
        if (!isfinite(s->p[i])) {
            say(I, DISCARD, "t = %.9g s: the parameter %s is %g; set a finite number", s->time, parameter_names[i],
                s->p[i]);
            return DISCARD;
        }
    }
    return OK;
}

/* q that closes the loops with the kept entries as the states have them.

   Newton's method begins at the last configuration that an integrator has accepted. From the last one that was tried, equal
   states would give rates that differ by rounding, and solvers take differences of rates along steps of 1e-22 (CVODE, of
   velocities from rest). */
static int place(Instance *I)
{
    State *s = &I->s;
    double d[ALL], old, step = HUGE_VAL;
    int i, j, k, at;
    if (I->known >= PLACED) {
        return OK;
    }
    if (require_finite(I) != OK) {
        return DISCARD;
    }
    put(s->q, s->base, NQ);
    for (at = 0; at < ITERATIONS && !(step < SMALL * machine_size); at++) {
        if (loops(I) != OK || factor(I, I->Gq, I->rq, 1) != OK) {
            put(s->q, s->base, NQ);
            return DISCARD;
        }
        for (i = 0; i < ROWS; i++) {
            d[i] = row_level[i] ? 0.0 : -row_scale[i] * I->phi[i];
        }
        for (i = 0; i < NP; i++) {
            d[ROWS + i] = q_reach[s->kept_q[i]] * (s->x[i] - s->q[s->kept_q[i]]);
        }
        qr_solve(I->Gq, ROWS + NP, NV, I->rq, d);
        for (step = 0.0, j = 0; j < NV; j++) {
            step = fmax(step, fabs(d[j]));
        }
        if (!isfinite(step)) {
            break;
        }
        if (step > REACH * machine_size) {
            for (j = 0; j < NV; j++) {
                d[j] *= REACH * machine_size / step;
            }
        }
        unscaled(d);
        for (i = 0; i < NQ; i++) {
            for (j = 0; j < NV; j++) {
                s->q[i] += I->E[i * NV + j] * d[j];
            }
        }
        for (k = 0; k < NQUAT; k++) {
            double *x = s->q + quaternion[k];
            old = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
            for (i = 0; i < 4; i++) {
                x[i] /= old;
            }
        }
    }
    if (loops(I) != OK || factor(I, I->Gq, I->rq, 1) != OK) {
        put(s->q, s->base, NQ);
        return DISCARD;
    }
    for (I->gap = 0.0, k = 0, i = 0; i < ROWS; i++) {
        if (!row_level[i] && !(fabs(row_scale[i] * I->phi[i]) <= I->gap)) {
            I->gap = fabs(row_scale[i] * I->phi[i]);
            k = i;
        }
    }
    if (!(step < SMALL * machine_size) || !(I->gap <= CLOSED * machine_size)) {
        say(I, DISCARD, "t = %.9g s: the loops cannot be closed with these independent coordinates: %s is open by %.3g m; "
            "check start values and parameters, or take shorter steps", s->time, ROWS ? row_names[k] : "a state", I->gap);
        put(s->q, s->base, NQ);
        return DISCARD;
    }
    I->known = PLACED;
    return OK;
}

/* What follows a unit of each kept entry: Kq of positions. */
static void follow_positions(Instance *I)
{
    double d[ALL];
    int i, j, k;
    for (k = 0; k < NP; k++) {
        memset(d, 0, sizeof d);
        d[ROWS + k] = 1.0;
        qr_solve(I->Gq, ROWS + NP, NV, I->rq, d);
        unscaled(d);
        for (i = 0; i < NQ; i++) {
            double move = 0.0;
            for (j = 0; j < NV; j++) {
                move += I->E[i * NV + j] * d[j];
            }
            I->Kq[i * NP + k] = q_reach[i] * move;
        }
    }
}

static double largest(const double *x, int n)
{
    double found = 0.0;
    int i;
    for (i = 0; i < n; i++) {
        found = fmax(found, fabs(x[i]));
    }
    return found;
}

/* Efforts at the joints. */
static const double *efforts(const Instance *I)
{
    return FOLLOWS ? I->u : SAMPLED ? I->s.command : I->s.in;
}

/* What functions of a law have as inputs: time, q, v. */
#if SAMPLED || FOLLOWS
static double *put_time(Instance *I, double *x)
{
    *x = I->s.time;
    x = put(x + 1, I->s.q, NQ);
    return put(x, I->s.v, NV);
}
#endif

#if SAMPLED
/* A sample of the law: what it says becomes the last of what is under way, and its states go on. */
static int ask(Instance *I)
{
    State *s = &I->s;
    const double *y = I->to;
    double *x = put_time(I, I->from), *said = s->said + (int)fmod(s->samples, QUEUE) * NU;
    x = put(x, s->law, NLAW);
    if (MEASURES_FORCE) {
        x = put(x, efforts(I), NU);
    }
    put(x, s->in + NIN - NSIGNAL, NSIGNAL);
#if MEASURES_FORCE
    if (compute(I, s->samples == 0.0 ? model_first_law : model_law, "the law") != OK) {
#else
    if (compute(I, model_law, "the law") != OK) {
#endif
        return DISCARD;
    }
    if (!all_finite(y, 1 + NU + NLAW) || !(y[0] > 0.0)) {
        say(I, DISCARD, "t = %.9g s: the law has no efforts here (margin %.3g, which must be above 0): the machine or its "
            "actuation is near a singular configuration; follow another path", s->time, y[0]);
        return DISCARD;
    }
    y = take(said, y + 1, NU);
    y = take(s->law, y, NLAW);
    take(s->report, y, MEASURES_FORCE && s->samples == 0.0 ? 0 : NREPORT);
    if (s->samples == 0.0) {
        put(s->first, HAS_INITIAL ? effort_initial : said, NU);
    }
    return OK;
}
#endif

#if FOLLOWS
/* Efforts, and rates of states, of what works in continuous time. */
static int follow(Instance *I)
{
    double *x = put_time(I, I->from);
    x = put(x, I->s.x + NP + ND, NC);
    x = put(x, I->s.command, SAMPLED ? NU : 0);
    put(x, I->s.in + NIN - NSIGNAL, SAMPLED ? 0 : NSIGNAL);
    if (compute(I, model_follow, "the law or drive") != OK) {
        return DISCARD;
    }
    if (!all_finite(I->to, NU + NC)) {
        say(I, DISCARD, "t = %.9g s: efforts of the law or drive are not finite; check its states and inputs", I->s.time);
        return DISCARD;
    }
    take(I->dx + NP + ND, take(I->u, I->to, NU), NC);
    return OK;
}
#endif

/* v and the kinematics of the present state. */
static int move(Instance *I)
{
    State *s = &I->s;
    double d[ALL];
    int i, j;
    if (I->known >= MOVING) {
        return OK;
    }
    if (place(I) != OK || factor(I, I->Gv, I->rv, 0) != OK) {
        return DISCARD;
    }
    for (i = 0; i < ROWS; i++) {
        d[i] = row_scale[i] * I->rates[i];
    }
    for (i = 0; i < ND; i++) {
        d[ROWS + i] = reach[s->kept_v[i]] * s->x[NP + i];
    }
    qr_solve(I->Gv, ROWS + ND, NV, I->rv, d);
    unscaled(d);
    put(s->v, d, NV);
    for (j = 0; j < ND; j++) {
        memset(d, 0, sizeof d);
        d[ROWS + j] = 1.0;
        qr_solve(I->Gv, ROWS + ND, NV, I->rv, d);
        for (i = 0; i < NV; i++) {
            I->K[i * ND + j] = d[i]; /* metres by metres */
        }
    }
    follow_positions(I);
    I->spread = fmax(largest(I->Kq, NQ * NP), largest(I->K, NV * ND));
    for (i = 0; i < NV; i++) {
        for (j = 0; j < ND; j++) {
            I->K[i * ND + j] *= reach[s->kept_v[j]] / reach[i];
        }
    }
    I->known = MOVING;
    return OK;
}

/* Accelerations a = particular + K dw, with the dw that dynamics leave under joint forces f (less h): f (NV) may be
   anything, c (ROWS) is what A a is to be. */
static void accelerate(Instance *I, const double *f, const double *c, double *a)
{
    double d[ALL], dw[ND + 1];
    int i, j;
    for (i = 0; i < ROWS; i++) {
        d[i] = row_scale[i] * c[i];
    }
    for (i = 0; i < ND; i++) {
        d[ROWS + i] = 0.0;
    }
    qr_solve(I->Gv, ROWS + ND, NV, I->rv, d);
    unscaled(d);
    put(a, d, NV);
    for (j = 0; j < ND; j++) {
        dw[j] = 0.0;
    }
    for (i = 0; i < NV; i++) {
        double left = f[i];
        int k;
        for (k = 0; k < NV; k++) {
            left -= I->M[i * NV + k] * a[k];
        }
        for (j = 0; j < ND; j++) {
            dw[j] += I->K[i * ND + j] * left;
        }
    }
    ldl_solve(I->H, ND, dw);
    for (i = 0; i < NV; i++) {
        for (j = 0; j < ND; j++) {
            a[i] += I->K[i * ND + j] * dw[j];
        }
    }
}

/* The smallest multipliers with A' lambda = f - M a, in metres: y, of which ROWS entries count. */
static void multipliers(const Instance *I, const double *f, const double *a, double *y)
{
    int i, k;
    for (i = 0; i < NV; i++) {
        double left = f[i];
        for (k = 0; k < NV; k++) {
            left -= I->M[i * NV + k] * a[k];
        }
        y[i] = left / reach[i];
    }
    qr_solve_transposed(I->Gv, ROWS + ND, NV, I->rv, y);
}

/* Accelerations, multipliers and the rates of the states. */
static int accelerated(Instance *I)
{
    State *s = &I->s;
    const double *y = I->to, *u = efforts(I);
    double f[NV], c[ROWS + 1], big[ALL];
    int i, j, k;
    if (I->known >= MOVING && I->closed) {
        return OK;
    }
    if (move(I) != OK) {
        return DISCARD;
    }
#if FOLLOWS
    if (follow(I) != OK) {
        return DISCARD;
    }
#endif
    put(put(I->from, s->q, NQ), s->v, NV);
    if (compute(I, model_motion, "the equations of motion") != OK) {
        return DISCARD;
    }
    y = take(I->M, y, NV * NV);
    y = take(I->h, y, NV);
    y = take(I->b, y, ROWS);
    take(I->B, y, NV * NU);
    for (i = 0; i < ND; i++) {
        for (j = 0; j <= i; j++) {
            double sum = 0.0;
            int m;
            for (k = 0; k < NV; k++) {
                for (m = 0; m < NV; m++) {
                    sum += I->K[k * ND + i] * I->M[k * NV + m] * I->K[m * ND + j];
                }
            }
            I->H[i * ND + j] = I->H[j * ND + i] = sum;
        }
    }
    if (!ldl_factor(I->H, ND)) {
        say(I, DISCARD, "t = %.9g s: the mass matrix is not positive definite; give every motion some inertia", s->time);
        return DISCARD;
    }
    for (i = 0; i < NV; i++) {
        f[i] = -I->h[i];
        for (j = 0; j < NU; j++) {
            f[i] += I->B[i * NU + j] * u[j];
        }
    }
    for (i = 0; i < ROWS; i++) {
        c[i] = -I->b[i];
    }
    accelerate(I, f, c, I->a);
    multipliers(I, f, I->a, big);
    for (i = 0; i < ROWS; i++) {
        I->lambda[i] = row_scale[i] * big[i];
    }
    for (i = 0; i < NP; i++) {
        I->dx[i] = 0.0;
        for (j = 0; j < NV; j++) {
            I->dx[i] += I->E[s->kept_q[i] * NV + j] * s->v[j];
        }
    }
    for (i = 0; i < ND; i++) {
        I->dx[NP + i] = I->a[s->kept_v[i]];
    }
    if (!all_finite(I->dx, NX) || !all_finite(I->lambda, ROWS)) {
        say(I, DISCARD, "t = %.9g s: accelerations are not finite; inputs or parameters are too large", s->time);
        return DISCARD;
    }
    I->closed = 1;
    return OK;
}

/* What of the state functions have as inputs: q, v, a, lambda, u. */
static double *put_state(const Instance *I, double *x)
{
    x = put(x, I->s.q, NQ);
    x = put(x, I->s.v, NV);
    x = put(x, I->a, NV);
    x = put(x, I->lambda, ROWS);
    return put(x, efforts(I), NU);
}

/* The outputs. */
static int measure(Instance *I)
{
    if (I->known == MEASURED && I->closed) {
        return OK;
    }
    if (accelerated(I) != OK) {
        return DISCARD;
    }
    put_state(I, I->from);
    if (compute(I, model_outputs, "outputs") != OK) {
        return DISCARD;
    }
    take(I->y, I->to, NY);
    I->known = MEASURED;
    return OK;
}

/* Only so much is known any more. */
static void forget(Instance *I, int known)
{
    I->known = I->known < known ? I->known : known;
    I->closed = 0;
}

/* The present configuration is where others are looked for from; it, too, as equal states are to give equal rates. */
static void accept(Instance *I)
{
    put(I->s.base, I->s.q, NQ);
    forget(I, NOTHING);
}

/* -- independent coordinates -------------------------------------------------------------------------------- */

/* Others are kept, until no entry of K (n, k) is above KEEP. The volume of the kept part grows with each exchange. */
static int exchange(double *K, int n, int k, int *kept)
{
    int count;
    for (count = 0; count < 100 * (n + 1); count++) {
        double most = KEEP, pivot;
        int i, j, row = -1, column = -1;
        for (i = 0; i < n; i++) {
            for (j = 0; j < k; j++) {
                if (fabs(K[i * k + j]) > most) {
                    most = fabs(K[i * k + j]);
                    row = i;
                    column = j;
                }
            }
        }
        if (row < 0) {
            return count;
        }
        kept[column] = row;
        pivot = K[row * k + column];
        for (i = 0; i < n; i++) {
            K[i * k + column] /= pivot;
        }
        for (j = 0; j < k; j++) {
            double factor = K[row * k + j];
            for (i = 0; i < n && j != column; i++) {
                K[i * k + j] -= factor * K[i * k + column];
            }
        }
    }
    return count;
}

/* Keep others where the present ones are slow; tells whether states have changed. */
static int renew(Instance *I, int *renewed)
{
    State *s = &I->s;
    double K[NV * ND + 1];
    int i, j;
    *renewed = 0;
    if (move(I) != OK) {
        return DISCARD;
    }
    accept(I);
    if (I->spread <= EXCHANGE) {
        return OK;
    }
    for (i = 0; i < NV; i++) {
        for (j = 0; j < ND; j++) {
            K[i * ND + j] = I->K[i * ND + j] * reach[i] / reach[s->kept_v[j]];
        }
    }
    *renewed = exchange(I->Kq, NQ, NP, s->kept_q) + exchange(K, NV, ND, s->kept_v) > 0;
    for (i = 0; i < NP; i++) {
        s->x[i] = s->q[s->kept_q[i]];
    }
    for (i = 0; i < ND; i++) {
        s->x[NP + i] = s->v[s->kept_v[i]];
    }
    forget(I, NOTHING);
    if (move(I) != OK) {
        return DISCARD;
    }
    say(I, OK, "t = %.9g s: other independent coordinates are kept", s->time);
    return OK;
}

/* -- samples of a law ---------------------------------------------------------------------------------------- */

#define SOON (1e-9 * PERIOD) /* a sample is due this early: times are rounded */

/* A sample where one is due, and efforts that arrive: sample k is said at k PERIOD, and acts delay later. */
#if SAMPLED
static int sample(Instance *I)
{
    State *s = &I->s;
    double since = s->time - s->start;
    int j;
    if (since < s->samples * PERIOD - SOON && since < s->next - s->start - SOON) {
        return OK;
    }
    while (since >= s->samples * PERIOD - SOON) {
        if (move(I) != OK || (MEASURES_FORCE && s->samples > 0.0 && accelerated(I) != OK) || ask(I) != OK) {
            return DISCARD;
        }
        s->samples += 1.0;
    }
    s->next = s->start + s->samples * PERIOD;
    for (j = 0; j < NU; j++) {
        double k = floor((since - delay[j] + SOON) / PERIOD);
        s->command[j] = k < 0.0 ? s->first[j] : s->said[(int)fmod(k, QUEUE) * NU + j];
        s->next = fmin(s->next, s->start + (k + 1.0) * PERIOD + delay[j]);
    }
    forget(I, MOVING);
    return OK;
}
#else
static int sample(Instance *I)
{
    I->s.next = HUGE_VAL; /* nothing is sampled */
    return OK;
}
#endif

/* -- steps of co-simulation ------------------------------------------------------------------------------------ */

static int rates_at(Instance *I, double time, const double *x, double *dx)
{
    I->s.time = time;
    put(I->s.x, x, NX);
    forget(I, NOTHING);
    if (accelerated(I) != OK) {
        return DISCARD;
    }
    put(dx, I->dx, NX);
    return OK;
}

/* A step of the classical Runge-Kutta method of order four. Loops are closed at every stage. */
static int runge_kutta(Instance *I, double h)
{
    double t = I->s.time, x[NX + 1], at[NX + 1], k1[NX + 1], k2[NX + 1], k3[NX + 1], k4[NX + 1];
    int i;
    put(x, I->s.x, NX);
    if (rates_at(I, t, x, k1) != OK) {
        return DISCARD;
    }
    for (i = 0; i < NX; i++) {
        at[i] = x[i] + 0.5 * h * k1[i];
    }
    if (rates_at(I, t + 0.5 * h, at, k2) != OK) {
        return DISCARD;
    }
    for (i = 0; i < NX; i++) {
        at[i] = x[i] + 0.5 * h * k2[i];
    }
    if (rates_at(I, t + 0.5 * h, at, k3) != OK) {
        return DISCARD;
    }
    for (i = 0; i < NX; i++) {
        at[i] = x[i] + h * k3[i];
    }
    if (rates_at(I, t + h, at, k4) != OK) {
        return DISCARD;
    }
    for (i = 0; i < NX; i++) {
        I->s.x[i] = x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
    I->s.time = t + h;
    forget(I, NOTHING);
    return move(I);
}

/* To t + length, by steps that end where samples are. What has been reached where one fails is kept. */
static int advance(Instance *I, double t, double length)
{
    State *s = &I->s;
    double end = t + length, small = 1e-12 * fmax(fabs(end), length);
    State before;
    int done;
    s->time = t;
    for (;;) {
        double stop = end, left;
        if (renew(I, &done) != OK) {
            return DISCARD;
        }
        if (!(s->time < end - small)) {
            s->time = end; /* a sample that is due here is taken by the next step, with the inputs that it gets */
            return OK;
        }
        if (sample(I) != OK) {
            return DISCARD;
        }
        if (SAMPLED && s->next < end - SOON) {
            stop = s->next;
        }
        left = stop - s->time;
        before = *s;
        if (runge_kutta(I, left / ceil(left / s->step - 1e-6)) != OK) {
            *s = before;
            forget(I, NOTHING);
            return DISCARD;
        }
        if (s->time > stop - small) {
            s->time = stop;
        }
    }
}

/* -- directional derivatives ----------------------------------------------------------------------------------- */

/* dx (NX), du (NU, or signals of a law in continuous time) and acting (NACT) to the change of the rates of states and of
   outputs. Efforts that a law holds stay as they are.

   Positions move by d with G d = [-phi of the motions; kept], velocities follow from the derivative of A v = rates, and
   accelerations and multipliers from that of the equations of motion, which have the same matrices on the left. */
static int directions(Instance *I, const double *dx, const double *du, const double *acting, double *rates, double *y)
{
    State *s = &I->s;
    double dq[NQ], dv[NV], da[NV], dlambda[ROWS + 1], d[ALL], f[NV], c[ROWS + 1], xi[ALL], big[ALL];
    double zero[NQ], change[NQ];
#if FOLLOWS
    double of_law[NU + 1];
#endif
    const double *out = I->to;
    double *in;
    int i, j;
    if (accelerated(I) != OK) {
        return DISCARD;
    }
    memset(zero, 0, sizeof zero);
    memset(d, 0, sizeof d);
    /* positions */
    in = put(put(I->from, s->q, NQ), s->v, NV);
    put(put(in, zero, NQ), acting, NACT);
    if (compute(I, model_bound_slope, "derivatives") != OK) {
        return DISCARD;
    }
    for (i = 0; i < ROWS; i++) {
        d[i] = row_level[i] ? 0.0 : -row_scale[i] * out[i];
    }
    for (i = 0; i < NP; i++) {
        d[ROWS + i] = q_reach[s->kept_q[i]] * dx[i];
    }
    qr_solve(I->Gq, ROWS + NP, NV, I->rq, d);
    unscaled(d);
    for (i = 0; i < NQ; i++) {
        for (dq[i] = 0.0, j = 0; j < NV; j++) {
            dq[i] += I->E[i * NV + j] * d[j];
        }
    }
    /* velocities */
    put(put(in, dq, NQ), acting, NACT);
    if (compute(I, model_bound_slope, "derivatives") != OK) {
        return DISCARD;
    }
    for (i = 0; i < ROWS; i++) {
        d[i] = -row_scale[i] * out[ROWS + i];
    }
    for (i = 0; i < ND; i++) {
        d[ROWS + i] = reach[s->kept_v[i]] * dx[NP + i];
    }
    qr_solve(I->Gv, ROWS + ND, NV, I->rv, d);
    unscaled(d);
    put(dv, d, NV);
#if FOLLOWS
    /* efforts, and rates of the states of what works in continuous time; what is held does not change */
    in = put_time(I, I->from);
    in = put(in, s->x + NP + ND, NC);
    in = put(in, s->command, SAMPLED ? NU : 0);
    in = put(in, s->in + NIN - NSIGNAL, SAMPLED ? 0 : NSIGNAL);
    in = put(put(put(in, dq, NQ), dv, NV), dx + NP + ND, NC);
    if (SAMPLED) {
        memset(in, 0, NU * sizeof *in);
    } else {
        put(in, du, NSIGNAL);
    }
    if (compute(I, model_follow_slope, "derivatives of the law or drive") != OK) {
        return DISCARD;
    }
    take(rates + NP + ND, take(of_law, out, NU), NC);
    du = of_law;
#endif
    /* xi with lambda = A xi in metres: the smallest multipliers stay in the range of A, which turns */
    for (i = 0; i < ALL; i++) {
        xi[i] = i < ROWS ? I->lambda[i] / row_scale[i] : 0.0;
    }
    qr_solve(I->Gv, ROWS + ND, NV, I->rv, xi);
    unscaled(xi);
    in = put(put_state(I, I->from), xi, NV);
    in = put(put(put(in, dq, NQ), dv, NV), du, NU);
    put(in, acting, NACT);
    if (compute(I, model_slope, "derivatives") != OK) {
        return DISCARD;
    }
    for (i = 0; i < NV; i++) {
        f[i] = -out[i];
    }
    for (i = 0; i < ROWS; i++) {
        c[i] = -out[NV + i];
    }
    put(change, out + NV + ROWS, NQ);
    for (i = 0; i < ALL; i++) {
        big[i] = i < ROWS ? row_scale[i] * out[NV + ROWS + NQ + i] : 0.0;
    }
    qr_remainder(I->Gv, ROWS + ND, NV, big);
    accelerate(I, f, c, da);
    multipliers(I, f, da, d);
    for (i = 0; i < ROWS; i++) {
        dlambda[i] = row_scale[i] * (d[i] + big[i]);
    }
    for (i = 0; i < NP; i++) {
        rates[i] = change[s->kept_q[i]];
    }
    for (i = 0; i < ND; i++) {
        rates[NP + i] = da[s->kept_v[i]];
    }
    if (y) {
        in = put_state(I, I->from);
        in = put(put(put(put(put(in, dq, NQ), dv, NV), da, NV), dlambda, ROWS), du, NU);
        put(in, acting, NACT);
        if (compute(I, model_outputs_slope, "derivatives") != OK) {
            return DISCARD;
        }
        take(y, I->to, NY);
    }
    return OK;
}
