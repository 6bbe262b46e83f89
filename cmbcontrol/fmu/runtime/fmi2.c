/* FMI 2.0: Model Exchange and Co-Simulation. Types are those of the standard, written anew. */

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef int fmi2Status;

typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    double nextEventTime;
} fmi2EventInfo;

#if defined(FMI2_FUNCTION_PREFIX) && !defined(FMI2_OVERRIDE_FUNCTION_PREFIX)
#define FMI2_PASTE(a, b) a##b
#define FMI2_JOIN(a, b) FMI2_PASTE(a, b)
#define FMI2(name) FMI2_JOIN(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define FMI2(name) fmi2##name
#endif
#if defined(_WIN32)
#define API __declspec(dllexport)
#elif defined(__GNUC__)
#define API __attribute__((visibility("default")))
#else
#define API
#endif
/* a function is declared before it is defined */
#define STATUS(name, arguments) \
    API fmi2Status FMI2(name) arguments; \
    API fmi2Status FMI2(name) arguments

enum { DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED_STATUS };

static void tell2(void *instance, int status, const char *category, const char *message)
{
    const Instance *I = instance;
    const fmi2CallbackFunctions *callbacks = I->callbacks;
    if (callbacks && callbacks->logger) {
        callbacks->logger(I->environment, I->name, status, category, "%s", message);
    }
}

API const char *FMI2(GetTypesPlatform)(void);
API const char *FMI2(GetTypesPlatform)(void)
{
    return "default";
}

API const char *FMI2(GetVersion)(void);
API const char *FMI2(GetVersion)(void)
{
    return "2.0";
}

STATUS(SetDebugLogging, (fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]))
{
    Instance *I = c;
    (void)n;
    (void)categories;
    I->logging = on;
    return OK;
}

API fmi2Component FMI2(Instantiate)(fmi2String, int, fmi2String, fmi2String, const fmi2CallbackFunctions *, fmi2Boolean,
                                    fmi2Boolean);
API fmi2Component FMI2(Instantiate)(fmi2String name, int type, fmi2String token, fmi2String resources,
                                    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)resources;
    (void)visible;
    return create(name, token, tell2, functions ? functions->componentEnvironment : NULL, functions, logging, type == 1);
}

API void FMI2(FreeInstance)(fmi2Component);
API void FMI2(FreeInstance)(fmi2Component c)
{
    destroy(c);
}

STATUS(SetupExperiment, (fmi2Component c, fmi2Boolean tolerance_defined, double tolerance, double start,
                         fmi2Boolean stop_defined, double stop))
{
    Instance *I = c;
    (void)tolerance_defined;
    (void)tolerance;
    (void)stop_defined;
    (void)stop;
    if (I->s.mode != INSTANTIATED) {
        return refuse(I, "the set-up of an experiment");
    }
    I->s.time = start;
    return OK;
}

STATUS(EnterInitializationMode, (fmi2Component c))
{
    return initialize(c, ((Instance *)c)->s.time);
}

STATUS(ExitInitializationMode, (fmi2Component c))
{
    return initialized(c);
}

STATUS(Terminate, (fmi2Component c))
{
    ((Instance *)c)->s.mode = TERMINATED;
    return OK;
}

STATUS(Reset, (fmi2Component c))
{
    restart(c);
    return OK;
}

/* -- variables ---------------------------------------------------------------------------------------------------- */

STATUS(GetReal, (fmi2Component c, const fmi2ValueReference references[], size_t n, double values[]))
{
    int status = OK;
    size_t k;
    for (k = 0; k < n && status == OK; k++) {
        status = get(c, references[k], values + k);
    }
    return status;
}

STATUS(SetReal, (fmi2Component c, const fmi2ValueReference references[], size_t n, const double values[]))
{
    int status = OK;
    size_t k;
    for (k = 0; k < n && status == OK; k++) {
        status = set(c, references[k], values[k]);
    }
    return status;
}

/* Variables of other types there are none. */
#define NONE(type, kind) \
    STATUS(Get##type, (fmi2Component c, const fmi2ValueReference references[], size_t n, kind values[])) \
    { \
        (void)references; \
        (void)values; \
        if (n) { \
            say(c, ERROR, "there are no variables of type %s; all are Real", #type); \
        } \
        return n ? ERROR : OK; \
    } \
    STATUS(Set##type, (fmi2Component c, const fmi2ValueReference references[], size_t n, kind const values[])) \
    { \
        (void)references; \
        (void)values; \
        if (n) { \
            say(c, ERROR, "there are no variables of type %s; all are Real", #type); \
        } \
        return n ? ERROR : OK; \
    }

NONE(Integer, int)
NONE(Boolean, fmi2Boolean)
NONE(String, fmi2String)

/* -- saved states ------------------------------------------------------------------------------------------------- */

STATUS(GetFMUstate, (fmi2Component c, fmi2FMUstate *state))
{
    return save(c, state);
}

STATUS(SetFMUstate, (fmi2Component c, fmi2FMUstate state))
{
    return load(c, state);
}

STATUS(FreeFMUstate, (fmi2Component c, fmi2FMUstate *state))
{
    (void)c;
    if (state) {
        free(*state);
        *state = NULL;
    }
    return OK;
}

STATUS(SerializedFMUstateSize, (fmi2Component c, fmi2FMUstate state, size_t *size))
{
    (void)c;
    (void)state;
    *size = sizeof(State);
    return OK;
}

STATUS(SerializeFMUstate, (fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size))
{
    if (require_size(c, size) != OK) {
        return ERROR;
    }
    memcpy(bytes, state, sizeof(State));
    return OK;
}

STATUS(DeSerializeFMUstate, (fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state))
{
    if (require_size(c, size) != OK || save(c, state) != OK) {
        return ERROR;
    }
    memcpy(*state, bytes, sizeof(State));
    return OK;
}

STATUS(GetDirectionalDerivative, (fmi2Component c, const fmi2ValueReference unknowns[], size_t n,
                                  const fmi2ValueReference knowns[], size_t m, const double seed[], double found[]))
{
    return derivative(c, unknowns, n, knowns, m, seed, found);
}

/* -- Model Exchange ----------------------------------------------------------------------------------------------- */

STATUS(EnterEventMode, (fmi2Component c))
{
    return enter(c, EVENTS);
}

STATUS(NewDiscreteStates, (fmi2Component c, fmi2EventInfo *info))
{
    int status;
    memset(info, 0, sizeof *info);
    status = update(c, &info->valuesOfContinuousStatesChanged, &info->nextEventTimeDefined, &info->nextEventTime);
    info->nominalsOfContinuousStatesChanged = info->valuesOfContinuousStatesChanged;
    return status;
}

STATUS(EnterContinuousTimeMode, (fmi2Component c))
{
    return enter(c, CONTINUOUS);
}

STATUS(CompletedIntegratorStep, (fmi2Component c, fmi2Boolean final, fmi2Boolean *event, fmi2Boolean *terminate))
{
    (void)final;
    *terminate = 0;
    return completed(c, event);
}

STATUS(SetTime, (fmi2Component c, double time))
{
    return set_time(c, time);
}

STATUS(SetContinuousStates, (fmi2Component c, const double x[], size_t n))
{
    return set_states(c, x, n);
}

STATUS(GetDerivatives, (fmi2Component c, double dx[], size_t n))
{
    return get_rates(c, dx, n);
}

STATUS(GetEventIndicators, (fmi2Component c, double z[], size_t n))
{
    return get_indicators(c, z, n);
}

STATUS(GetContinuousStates, (fmi2Component c, double x[], size_t n))
{
    return get_states(c, x, n);
}

STATUS(GetNominalsOfContinuousStates, (fmi2Component c, double x[], size_t n))
{
    return get_nominals(c, x, n);
}

/* -- Co-Simulation ------------------------------------------------------------------------------------------------ */

STATUS(SetRealInputDerivatives, (fmi2Component c, const fmi2ValueReference references[], size_t n, const int order[],
                                 const double values[]))
{
    (void)references;
    (void)n;
    (void)order;
    (void)values;
    say(c, ERROR, "inputs are held during a step; their derivatives cannot be set");
    return ERROR;
}

STATUS(GetRealOutputDerivatives, (fmi2Component c, const fmi2ValueReference references[], size_t n, const int order[],
                                  double values[]))
{
    (void)references;
    (void)n;
    (void)order;
    (void)values;
    say(c, ERROR, "there are no derivatives of outputs by time; velocities and accelerations are outputs");
    return ERROR;
}

STATUS(DoStep, (fmi2Component c, double time, double length, fmi2Boolean final))
{
    Instance *I = c;
    (void)final;
    if (I->s.mode != STEPPING) {
        return refuse(I, "a step");
    }
    if (!(length > 0.0) || !isfinite(time) || !isfinite(length)) {
        say(I, ERROR, "a step must be positive and finite, s, got %g at t = %g s", length, time);
        return ERROR;
    }
    return advance(I, time, length);
}

STATUS(CancelStep, (fmi2Component c))
{
    say(c, ERROR, "steps are complete when they return; there is none to cancel");
    return ERROR;
}

static int no_status(Instance *I)
{
    say(I, DISCARD, "steps are complete when they return; only the last successful time can be asked for");
    return DISCARD;
}

STATUS(GetStatus, (fmi2Component c, int kind, fmi2Status *value))
{
    (void)kind;
    (void)value;
    return no_status(c);
}

STATUS(GetRealStatus, (fmi2Component c, int kind, double *value))
{
    Instance *I = c;
    if (kind == LAST_SUCCESSFUL_TIME) {
        *value = I->s.time;
        return OK;
    }
    return no_status(I);
}

STATUS(GetIntegerStatus, (fmi2Component c, int kind, int *value))
{
    (void)kind;
    (void)value;
    return no_status(c);
}

STATUS(GetBooleanStatus, (fmi2Component c, int kind, fmi2Boolean *value))
{
    Instance *I = c;
    if (kind == TERMINATED_STATUS) {
        *value = I->s.mode == TERMINATED;
        return OK;
    }
    return no_status(I);
}

STATUS(GetStringStatus, (fmi2Component c, int kind, fmi2String *value))
{
    (void)kind;
    (void)value;
    return no_status(c);
}
