/* What both versions of the interface have in common: instances, variables by their references, modes. */

/* Value references: time, states, their rates, inputs, parameters, the internal step, outputs, and then local ones. */
enum {
    AT_STATE = 1,
    AT_RATE = AT_STATE + NX,
    AT_INPUT = AT_RATE + NX,
    AT_PARAMETER = AT_INPUT + NIN,
    AT_STEP = AT_PARAMETER + NTUNED,
    AT_OUTPUT = AT_STEP + 1,
    AT_GAP = AT_OUTPUT + NY,
    AT_SPREAD,
    AT_INDICATOR,
    AT_LAW,
    AT_REPORT = AT_LAW + NLAW,
    AT_END = AT_REPORT + NREPORT
};

static void restart(Instance *I)
{
    State *s = &I->s;
    int i;
    memset(s, 0, sizeof *s);
    s->step = INTERNAL_STEP;
    put(s->q, q_start, NQ);
    put(s->base, q_start, NQ);
    put(s->x, x_start, NX);
    put(s->in, input_start, NIN);
    put(s->p, parameter_start, NPAR);
    put(s->law, law_start, NLAW);
    for (i = 0; i < NP; i++) {
        s->kept_q[i] = kept_q_start[i];
    }
    for (i = 0; i < ND; i++) {
        s->kept_v[i] = kept_v_start[i];
    }
    s->mode = INSTANTIATED;
    I->exchange = 0;
    forget(I, NOTHING);
}

static Instance *create(const char *name, const char *token, Tell tell, void *environment, const void *callbacks,
                        int logging, int cosimulation)
{
    Instance *I = calloc(1, sizeof *I);
    size_t length = name ? strlen(name) + 1 : 1;
    if (!I) {
        return NULL;
    }
    I->name = calloc(length, 1);
    if (!I->name) {
        free(I);
        return NULL;
    }
    if (name) {
        memcpy(I->name, name, length);
    }
    I->tell = tell;
    I->environment = environment;
    I->callbacks = callbacks;
    I->logging = logging;
    I->cosimulation = cosimulation;
    if (!token || strcmp(token, INSTANTIATION_TOKEN) != 0) {
        say(I, ERROR, "the model description is of another FMU: its token is %s, and %s was expected; unzip the FMU anew",
            token ? token : "missing", INSTANTIATION_TOKEN);
        free(I->name);
        free(I);
        return NULL;
    }
    restart(I);
    return I;
}

static void destroy(Instance *I)
{
    if (I) {
        free(I->name);
        free(I);
    }
}

/* A status as the caller gets it: outside of integration nobody can take a shorter step. */
static int told(const Instance *I, int status)
{
    return status == DISCARD && I->s.mode != CONTINUOUS && I->s.mode != STEPPING ? ERROR : status;
}

static int refuse(Instance *I, const char *what)
{
    static const char *const mode[] = {"after instantiation", "during initialization", "in event mode",
                                       "in continuous-time mode", "between steps", "after the end"};
    say(I, ERROR, "t = %.9g s: %s is not allowed %s", I->s.time, what, mode[I->s.mode]);
    return ERROR;
}

static int get(Instance *I, unsigned reference, double *value)
{
    State *s = &I->s;
    int r = (int)reference, status = OK;
    if (reference >= (unsigned)AT_END) {
        say(I, ERROR, "there is no variable with the value reference %u; they end at %d", reference, AT_END - 1);
        return ERROR;
    }
    if (r < AT_STATE) {
        *value = s->time;
    } else if (r < AT_RATE) {
        *value = s->x[r - AT_STATE];
    } else if (r < AT_INPUT) {
        status = accelerated(I);
        *value = status == OK ? I->dx[r - AT_RATE] : (double)NAN;
    } else if (r < AT_PARAMETER) {
        *value = s->in[r - AT_INPUT];
    } else if (r < AT_STEP) {
        *value = s->p[tuned_number[r - AT_PARAMETER]];
    } else if (r < AT_OUTPUT) {
        *value = s->step;
    } else if (r < AT_GAP) {
        status = measure(I);
        *value = status == OK ? I->y[r - AT_OUTPUT] : (double)NAN;
    } else if (r < AT_LAW) {
        status = move(I);
        *value = status != OK ? (double)NAN : r == AT_GAP ? I->gap : r == AT_SPREAD ? I->spread : TURN_OVER - I->spread;
    } else if (r < AT_REPORT) {
        *value = s->law[r - AT_LAW];
    } else {
        *value = s->report[r - AT_REPORT];
    }
    return told(I, status);
}

static int set(Instance *I, unsigned reference, double value)
{
    State *s = &I->s;
    int r = (int)reference, starting = s->mode == INSTANTIATED || s->mode == INITIALIZATION;
    if (r >= AT_STATE && r < AT_RATE && reference < (unsigned)AT_END) {
        if (!starting) {
            return refuse(I, "the value of a state");
        }
        s->x[r - AT_STATE] = value;
    } else if (r >= AT_INPUT && r < AT_PARAMETER) {
        int k = r - AT_INPUT - (NIN - NACT - NSIGNAL);
        if (s->in[r - AT_INPUT] == value) {
            return OK;
        }
        s->in[r - AT_INPUT] = value;
        if (k >= 0 && k < NACT && acting_number[k] >= 0) {
            s->p[acting_number[k]] = value;
        }
        forget(I, !isfinite(value) || (k >= 0 && k < NACT && moves[k]) ? NOTHING : MOVING);
        return OK;
    } else if (r >= AT_PARAMETER && r < AT_STEP) {
        if (s->mode == CONTINUOUS) {
            return refuse(I, "another value of a parameter");
        }
        s->p[tuned_number[r - AT_PARAMETER]] = value;
    } else if (r == AT_STEP) {
        if (!(value > 0.0) || !isfinite(value)) {
            say(I, ERROR, "the internal step must be positive, s, and is %g", value);
            return ERROR;
        }
        s->step = value;
    } else {
        say(I, ERROR, "the variable with the value reference %u cannot be set; only states at the start, inputs and "
            "parameters can", reference);
        return ERROR;
    }
    forget(I, NOTHING);
    return OK;
}

static int initialize(Instance *I, double start)
{
    if (I->s.mode != INSTANTIATED) {
        return refuse(I, "initialization");
    }
    I->s.time = I->s.start = I->s.next = start;
    I->s.mode = INITIALIZATION;
    return OK;
}

/* Start values are complete; a law takes its first sample. */
static int initialized(Instance *I)
{
    int done;
    if (I->s.mode != INITIALIZATION) {
        return refuse(I, "the end of initialization");
    }
    if (I->cosimulation) {
        if (renew(I, &done) != OK || sample(I) != OK || accelerated(I) != OK) {
            return ERROR;
        }
    } else if (accelerated(I) != OK) {
        return ERROR;
    }
    I->s.mode = I->cosimulation ? STEPPING : EVENTS;
    return OK;
}

/* An event: a sample of the law, other independent coordinates. */
static int update(Instance *I, int *states_changed, int *defined, double *next)
{
    if (I->s.mode != EVENTS) {
        return refuse(I, "an update of discrete states");
    }
    if (renew(I, states_changed) != OK || sample(I) != OK) {
        return ERROR;
    }
    *defined = SAMPLED;
    *next = SAMPLED ? I->s.next : 0.0;
    return OK;
}

static int enter(Instance *I, int mode)
{
    int from = I->s.mode;
    if (I->cosimulation || !((mode == EVENTS && from == CONTINUOUS) || (mode == CONTINUOUS && from == EVENTS) ||
                             (mode == EVENTS && from == EVENTS))) {
        return refuse(I, mode == EVENTS ? "event mode" : "continuous-time mode");
    }
    I->s.mode = mode;
    return OK;
}

static int completed(Instance *I, int *event)
{
    *event = 0;
    if (I->s.mode != CONTINUOUS) {
        return refuse(I, "a completed step");
    }
    if (move(I) != OK) {
        return told(I, DISCARD);
    }
    accept(I);
    *event = I->spread > TURN_OVER;
    return OK;
}

static int set_time(Instance *I, double time)
{
    if (!isfinite(time)) {
        say(I, ERROR, "the time must be finite, and is %g", time);
        return ERROR;
    }
    if (time != I->s.time) {
        I->s.time = time;
        if (FOLLOWS) {
            forget(I, MOVING);
        }
    }
    return OK;
}

static int set_states(Instance *I, const double *x, size_t n)
{
    int i, placed = 1, same = 1;
    if (n != (size_t)NX) {
        say(I, ERROR, "there are %d continuous states, got %lu", NX, (unsigned long)n);
        return ERROR;
    }
    for (i = 0; i < NX; i++) {
        same = same && x[i] == I->s.x[i];
        placed = placed && isfinite(x[i]) && (i >= NP || x[i] == I->s.x[i]);
    }
    if (!same) {
        put(I->s.x, x, NX);
        forget(I, placed ? PLACED : NOTHING);
    }
    return OK;
}

static int get_states(Instance *I, double *x, size_t n)
{
    if (n != (size_t)NX) {
        say(I, ERROR, "there are %d continuous states, got %lu", NX, (unsigned long)n);
        return ERROR;
    }
    put(x, I->s.x, NX);
    return OK;
}

static int get_rates(Instance *I, double *dx, size_t n)
{
    int i;
    if (n != (size_t)NX) {
        say(I, ERROR, "there are %d continuous states, got %lu", NX, (unsigned long)n);
        return ERROR;
    }
    if (accelerated(I) != OK) {
        for (i = 0; i < NX; i++) {
            dx[i] = (double)NAN;
        }
        return told(I, DISCARD);
    }
    put(dx, I->dx, NX);
    return OK;
}

static int get_nominals(Instance *I, double *x, size_t n)
{
    int i;
    if (n != (size_t)NX) {
        say(I, ERROR, "there are %d continuous states, got %lu", NX, (unsigned long)n);
        return ERROR;
    }
    for (i = 0; i < NX; i++) {
        x[i] = i < NP ? machine_size / q_reach[I->s.kept_q[i]]
                      : i < NP + ND ? machine_size / reach[I->s.kept_v[i - NP]] : 1.0;
    }
    return OK;
}

static int get_indicators(Instance *I, double *z, size_t n)
{
    if (n != 1) {
        say(I, ERROR, "there is 1 event indicator, got %lu", (unsigned long)n);
        return ERROR;
    }
    if (move(I) != OK) {
        z[0] = (double)NAN;
        return told(I, DISCARD);
    }
    z[0] = TURN_OVER - I->spread;
    return OK;
}

/* Derivative of unknowns along a direction of knowns. */
static int derivative(Instance *I, const unsigned *unknown, size_t unknowns, const unsigned *known, size_t knowns,
                      const double *seed, double *found)
{
    double dx[NX + 1], di[NIN + 1], rates[NX + 1], y[NY + 1], held[NU + 1];
    size_t k;
    int outputs = 0;
    memset(dx, 0, sizeof dx);
    memset(di, 0, sizeof di);
    for (k = 0; k < knowns; k++) {
        int r = known[k] < (unsigned)AT_END ? (int)known[k] : AT_END;
        if (r >= AT_STATE && r < AT_RATE) {
            dx[r - AT_STATE] += seed[k];
        } else if (r >= AT_INPUT && r < AT_PARAMETER) {
            di[r - AT_INPUT] += seed[k];
        } else {
            say(I, ERROR, "there are derivatives by states and inputs, not by the variable with the value reference %u",
                known[k]);
            return ERROR;
        }
    }
    for (k = 0; k < unknowns; k++) {
        int r = unknown[k] < (unsigned)AT_END ? (int)unknown[k] : AT_END;
        if (!((r >= AT_RATE && r < AT_INPUT) || (r >= AT_OUTPUT && r < AT_GAP))) {
            say(I, ERROR, "there are derivatives of rates of states and of outputs, not of the variable with the value "
                "reference %u", unknown[k]);
            return ERROR;
        }
        outputs = outputs || r >= AT_OUTPUT;
    }
    if (SAMPLED) {
        memset(held, 0, sizeof held);
    }
    if (directions(I, dx, SAMPLED ? held : FOLLOWS ? di + NIN - NSIGNAL : di, di + (NIN - NACT - NSIGNAL), rates,
                   outputs ? y : NULL) != OK) {
        return told(I, DISCARD);
    }
    for (k = 0; k < unknowns; k++) {
        int r = (int)unknown[k];
        found[k] = r < AT_INPUT ? rates[r - AT_RATE] : y[r - AT_OUTPUT];
    }
    return OK;
}

/* -- saved states ---------------------------------------------------------------------------------------------- */

static int save(Instance *I, void **to)
{
    if (!*to) {
        *to = malloc(sizeof(State));
    }
    if (!*to) {
        say(I, ERROR, "there is no memory for a state of %lu bytes", (unsigned long)sizeof(State));
        return ERROR;
    }
    memcpy(*to, &I->s, sizeof(State));
    return OK;
}

static int load(Instance *I, const void *from)
{
    if (!from) {
        say(I, ERROR, "there is no state to load; save one first");
        return ERROR;
    }
    memcpy(&I->s, from, sizeof(State));
    forget(I, NOTHING);
    return OK;
}

static int require_size(Instance *I, size_t size)
{
    if (size != sizeof(State)) {
        say(I, ERROR, "a saved state has %lu bytes, got %lu; it is of another FMU", (unsigned long)sizeof(State),
            (unsigned long)size);
        return ERROR;
    }
    return OK;
}
