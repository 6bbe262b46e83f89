/* FMI 3.0: Model Exchange and Co-Simulation. Types are those of the standard, written anew. */

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef const uint8_t *fmi3Binary;
typedef int fmi3Status;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, double, fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                               fmi3Boolean, fmi3Boolean *, double *);

#if defined(FMI3_FUNCTION_PREFIX) && !defined(FMI3_OVERRIDE_FUNCTION_PREFIX)
#define FMI3_PASTE(a, b) a##b
#define FMI3_JOIN(a, b) FMI3_PASTE(a, b)
#define FMI3(name) FMI3_JOIN(FMI3_FUNCTION_PREFIX, fmi3##name)
#else
#define FMI3(name) fmi3##name
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
    API fmi3Status FMI3(name) arguments; \
    API fmi3Status FMI3(name) arguments

static void tell3(void *instance, int status, const char *category, const char *message)
{
    const Instance *I = instance;
    fmi3LogMessageCallback log;
    memcpy(&log, &I->callbacks, sizeof log);
    if (log) {
        log(I->environment, status, category, message);
    }
}

static Instance *instantiate3(fmi3String name, fmi3String token, fmi3Boolean logging, fmi3InstanceEnvironment environment,
                              fmi3LogMessageCallback log, int cosimulation)
{
    const void *callbacks; /* functions have no other way through an object pointer */
    memcpy(&callbacks, &log, sizeof callbacks);
    return create(name, token, tell3, environment, callbacks, logging, cosimulation);
}

API const char *FMI3(GetVersion)(void);
API const char *FMI3(GetVersion)(void)
{
    return "3.0";
}

STATUS(SetDebugLogging, (fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String categories[]))
{
    Instance *I = instance;
    (void)n;
    (void)categories;
    I->logging = on;
    return OK;
}

API fmi3Instance FMI3(InstantiateModelExchange)(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean,
                                                fmi3InstanceEnvironment, fmi3LogMessageCallback);
API fmi3Instance FMI3(InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources,
                                                fmi3Boolean visible, fmi3Boolean logging,
                                                fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)resources;
    (void)visible;
    return instantiate3(name, token, logging, environment, log, 0);
}

API fmi3Instance FMI3(InstantiateCoSimulation)(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                               fmi3Boolean, const fmi3ValueReference[], size_t, fmi3InstanceEnvironment,
                                               fmi3LogMessageCallback, fmi3IntermediateUpdateCallback);
API fmi3Instance FMI3(InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
                                               fmi3Boolean early, const fmi3ValueReference intermediate[],
                                               size_t n, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3IntermediateUpdateCallback update_callback)
{
    (void)resources;
    (void)visible;
    (void)events;
    (void)early;
    (void)intermediate;
    (void)n;
    (void)update_callback;
    return instantiate3(name, token, logging, environment, log, 1);
}

API fmi3Instance FMI3(InstantiateScheduledExecution)(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean,
                                                     fmi3InstanceEnvironment, fmi3LogMessageCallback, void (*)(void *),
                                                     void (*)(void), void (*)(void));
API fmi3Instance FMI3(InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
                                                     fmi3Boolean visible, fmi3Boolean logging,
                                                     fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                     void (*clock)(void *), void (*lock)(void), void (*unlock)(void))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)clock;
    (void)lock;
    (void)unlock;
    if (log) {
        log(environment, ERROR, "logStatusError", "there is no scheduled execution; use Model Exchange or Co-Simulation");
    }
    return NULL;
}

API void FMI3(FreeInstance)(fmi3Instance);
API void FMI3(FreeInstance)(fmi3Instance instance)
{
    destroy(instance);
}

STATUS(EnterInitializationMode, (fmi3Instance instance, fmi3Boolean tolerance_defined, double tolerance, double start,
                                 fmi3Boolean stop_defined, double stop))
{
    (void)tolerance_defined;
    (void)tolerance;
    (void)stop_defined;
    (void)stop;
    return initialize(instance, start);
}

STATUS(ExitInitializationMode, (fmi3Instance instance))
{
    return initialized(instance);
}

STATUS(EnterEventMode, (fmi3Instance instance))
{
    return enter(instance, EVENTS);
}

STATUS(Terminate, (fmi3Instance instance))
{
    ((Instance *)instance)->s.mode = TERMINATED;
    return OK;
}

STATUS(Reset, (fmi3Instance instance))
{
    restart(instance);
    return OK;
}

/* -- variables ---------------------------------------------------------------------------------------------------- */

static int require_counts(Instance *I, size_t references, size_t values)
{
    if (references != values) {
        say(I, ERROR, "all variables are single numbers: %lu of them have %lu values", (unsigned long)references,
            (unsigned long)values);
        return ERROR;
    }
    return OK;
}

STATUS(GetFloat64, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, double values[], size_t count))
{
    int status = require_counts(instance, n, count);
    size_t k;
    for (k = 0; k < n && status == OK; k++) {
        status = get(instance, references[k], values + k);
    }
    return status;
}

STATUS(SetFloat64, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, const double values[],
                    size_t count))
{
    int status = require_counts(instance, n, count);
    size_t k;
    for (k = 0; k < n && status == OK; k++) {
        status = set(instance, references[k], values[k]);
    }
    return status;
}

/* Variables of other types there are none. */
static int no_variables(Instance *I, size_t n, const char *type)
{
    if (n) {
        say(I, ERROR, "there are no variables of type %s; all are Float64", type);
        return ERROR;
    }
    return OK;
}

#define NONE(type, kind) \
    STATUS(Get##type, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, kind values[], size_t count)) \
    { \
        (void)references; \
        (void)values; \
        (void)count; \
        return no_variables(instance, n, #type); \
    } \
    STATUS(Set##type, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, const kind values[], \
                       size_t count)) \
    { \
        (void)references; \
        (void)values; \
        (void)count; \
        return no_variables(instance, n, #type); \
    }

NONE(Float32, float)
NONE(Int8, int8_t)
NONE(UInt8, uint8_t)
NONE(Int16, int16_t)
NONE(UInt16, uint16_t)
NONE(Int32, int32_t)
NONE(UInt32, uint32_t)
NONE(Int64, int64_t)
NONE(UInt64, uint64_t)
NONE(Boolean, fmi3Boolean)

STATUS(GetString, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, fmi3String values[],
                   size_t count))
{
    (void)references;
    (void)values;
    (void)count;
    return no_variables(instance, n, "String");
}

STATUS(SetString, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, const fmi3String values[],
                   size_t count))
{
    (void)references;
    (void)values;
    (void)count;
    return no_variables(instance, n, "String");
}

STATUS(GetBinary, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, size_t sizes[],
                   fmi3Binary values[], size_t count))
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)count;
    return no_variables(instance, n, "Binary");
}

STATUS(SetBinary, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, const size_t sizes[],
                   const fmi3Binary values[], size_t count))
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)count;
    return no_variables(instance, n, "Binary");
}

STATUS(GetClock, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, fmi3Boolean values[]))
{
    (void)references;
    (void)values;
    return no_variables(instance, n, "Clock");
}

STATUS(SetClock, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, const fmi3Boolean values[]))
{
    (void)references;
    (void)values;
    return no_variables(instance, n, "Clock");
}

STATUS(GetNumberOfVariableDependencies, (fmi3Instance instance, fmi3ValueReference reference, size_t *n))
{
    (void)reference;
    *n = 0;
    say(instance, ERROR, "dependencies of variables do not change; they are in the model description");
    return ERROR;
}

STATUS(GetVariableDependencies, (fmi3Instance instance, fmi3ValueReference dependent, size_t dependent_elements[],
                                 fmi3ValueReference independents[], size_t independent_elements[], int kinds[], size_t n))
{
    (void)dependent;
    (void)dependent_elements;
    (void)independents;
    (void)independent_elements;
    (void)kinds;
    (void)n;
    say(instance, ERROR, "dependencies of variables do not change; they are in the model description");
    return ERROR;
}

/* -- saved states ------------------------------------------------------------------------------------------------- */

STATUS(GetFMUState, (fmi3Instance instance, fmi3FMUState *state))
{
    return save(instance, state);
}

STATUS(SetFMUState, (fmi3Instance instance, fmi3FMUState state))
{
    return load(instance, state);
}

STATUS(FreeFMUState, (fmi3Instance instance, fmi3FMUState *state))
{
    (void)instance;
    if (state) {
        free(*state);
        *state = NULL;
    }
    return OK;
}

STATUS(SerializedFMUStateSize, (fmi3Instance instance, fmi3FMUState state, size_t *size))
{
    (void)instance;
    (void)state;
    *size = sizeof(State);
    return OK;
}

STATUS(SerializeFMUState, (fmi3Instance instance, fmi3FMUState state, uint8_t bytes[], size_t size))
{
    if (require_size(instance, size) != OK) {
        return ERROR;
    }
    memcpy(bytes, state, sizeof(State));
    return OK;
}

STATUS(DeserializeFMUState, (fmi3Instance instance, const uint8_t bytes[], size_t size, fmi3FMUState *state))
{
    if (require_size(instance, size) != OK || save(instance, state) != OK) {
        return ERROR;
    }
    memcpy(*state, bytes, sizeof(State));
    return OK;
}

/* -- derivatives -------------------------------------------------------------------------------------------------- */

STATUS(GetDirectionalDerivative, (fmi3Instance instance, const fmi3ValueReference unknowns[], size_t n,
                                  const fmi3ValueReference knowns[], size_t m, const double seed[], size_t seeds,
                                  double sensitivity[], size_t sensitivities))
{
    if (require_counts(instance, m, seeds) != OK || require_counts(instance, n, sensitivities) != OK) {
        return ERROR;
    }
    return derivative(instance, unknowns, n, knowns, m, seed, sensitivity);
}

STATUS(GetAdjointDerivative, (fmi3Instance instance, const fmi3ValueReference unknowns[], size_t n,
                              const fmi3ValueReference knowns[], size_t m, const double seed[], size_t seeds,
                              double sensitivity[], size_t sensitivities))
{
    (void)unknowns;
    (void)n;
    (void)knowns;
    (void)m;
    (void)seed;
    (void)seeds;
    (void)sensitivity;
    (void)sensitivities;
    say(instance, ERROR, "there are no adjoint derivatives; use directional ones");
    return ERROR;
}

/* -- clocks and structural parameters, of which there are none ------------------------------------------------------ */

STATUS(EnterConfigurationMode, (fmi3Instance instance))
{
    return refuse(instance, "configuration, without structural parameters,");
}

STATUS(ExitConfigurationMode, (fmi3Instance instance))
{
    return refuse(instance, "configuration, without structural parameters,");
}

STATUS(GetIntervalDecimal, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, double intervals[],
                            int qualifiers[]))
{
    (void)references;
    (void)intervals;
    (void)qualifiers;
    return no_variables(instance, n, "Clock");
}

STATUS(GetIntervalFraction, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, uint64_t counters[],
                             uint64_t resolutions[], int qualifiers[]))
{
    (void)references;
    (void)counters;
    (void)resolutions;
    (void)qualifiers;
    return no_variables(instance, n, "Clock");
}

STATUS(GetShiftDecimal, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, double shifts[]))
{
    (void)references;
    (void)shifts;
    return no_variables(instance, n, "Clock");
}

STATUS(GetShiftFraction, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, uint64_t counters[],
                          uint64_t resolutions[]))
{
    (void)references;
    (void)counters;
    (void)resolutions;
    return no_variables(instance, n, "Clock");
}

STATUS(SetIntervalDecimal, (fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                            const double intervals[]))
{
    (void)references;
    (void)intervals;
    return no_variables(instance, n, "Clock");
}

STATUS(SetIntervalFraction, (fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                             const uint64_t counters[], const uint64_t resolutions[]))
{
    (void)references;
    (void)counters;
    (void)resolutions;
    return no_variables(instance, n, "Clock");
}

STATUS(SetShiftDecimal, (fmi3Instance instance, const fmi3ValueReference references[], size_t n, const double shifts[]))
{
    (void)references;
    (void)shifts;
    return no_variables(instance, n, "Clock");
}

STATUS(SetShiftFraction, (fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                          const uint64_t counters[], const uint64_t resolutions[]))
{
    (void)references;
    (void)counters;
    (void)resolutions;
    return no_variables(instance, n, "Clock");
}

STATUS(EvaluateDiscreteStates, (fmi3Instance instance))
{
    (void)instance; /* what a law has said is kept until the next sample */
    return OK;
}

STATUS(UpdateDiscreteStates, (fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals,
                              fmi3Boolean *values, fmi3Boolean *defined, double *next))
{
    int states_changed = 0, is_defined = 0, status = update(instance, &states_changed, &is_defined, next);
    *again = *terminate = false;
    *nominals = *values = states_changed;
    *defined = is_defined;
    return status;
}

/* -- Model Exchange ----------------------------------------------------------------------------------------------- */

STATUS(EnterContinuousTimeMode, (fmi3Instance instance))
{
    return enter(instance, CONTINUOUS);
}

STATUS(CompletedIntegratorStep, (fmi3Instance instance, fmi3Boolean final, fmi3Boolean *event, fmi3Boolean *terminate))
{
    int found = 0, status = completed(instance, &found);
    (void)final;
    *event = found;
    *terminate = false;
    return status;
}

STATUS(SetTime, (fmi3Instance instance, double time))
{
    return set_time(instance, time);
}

STATUS(SetContinuousStates, (fmi3Instance instance, const double x[], size_t n))
{
    return set_states(instance, x, n);
}

STATUS(GetContinuousStateDerivatives, (fmi3Instance instance, double dx[], size_t n))
{
    return get_rates(instance, dx, n);
}

STATUS(GetEventIndicators, (fmi3Instance instance, double z[], size_t n))
{
    return get_indicators(instance, z, n);
}

STATUS(GetContinuousStates, (fmi3Instance instance, double x[], size_t n))
{
    return get_states(instance, x, n);
}

STATUS(GetNominalsOfContinuousStates, (fmi3Instance instance, double x[], size_t n))
{
    return get_nominals(instance, x, n);
}

STATUS(GetNumberOfEventIndicators, (fmi3Instance instance, size_t *n))
{
    (void)instance;
    *n = 1;
    return OK;
}

STATUS(GetNumberOfContinuousStates, (fmi3Instance instance, size_t *n))
{
    (void)instance;
    *n = NX;
    return OK;
}

/* -- Co-Simulation ------------------------------------------------------------------------------------------------ */

STATUS(EnterStepMode, (fmi3Instance instance))
{
    return refuse(instance, "step mode, as there is no event mode in co-simulation,");
}

STATUS(GetOutputDerivatives, (fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                              const int32_t orders[], double values[], size_t count))
{
    (void)references;
    (void)n;
    (void)orders;
    (void)values;
    (void)count;
    say(instance, ERROR, "there are no derivatives of outputs by time; velocities and accelerations are outputs");
    return ERROR;
}

STATUS(DoStep, (fmi3Instance instance, double time, double length, fmi3Boolean final, fmi3Boolean *event,
                fmi3Boolean *terminate, fmi3Boolean *early, double *reached))
{
    Instance *I = instance;
    int status;
    (void)final;
    *event = *terminate = *early = false;
    *reached = I->s.time;
    if (I->s.mode != STEPPING) {
        return refuse(I, "a step");
    }
    if (!(length > 0.0) || !isfinite(time) || !isfinite(length)) {
        say(I, ERROR, "a step must be positive and finite, s, got %g at t = %g s", length, time);
        return ERROR;
    }
    status = advance(I, time, length);
    *reached = I->s.time;
    return status;
}

STATUS(ActivateModelPartition, (fmi3Instance instance, fmi3ValueReference clock, double time))
{
    (void)clock;
    (void)time;
    say(instance, ERROR, "there is no scheduled execution; use Model Exchange or Co-Simulation");
    return ERROR;
}
