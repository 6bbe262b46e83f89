"""Description files of an FMU: modelDescription.xml, and buildDescription.xml for its sources, in FMI 3.0 and 2.0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from ..codegen.source import single_line
from .model import FmuModel, units_of

__all__ = ["build_description", "model_description", "value_references"]

_SOURCE = "fmu.c"  # which takes in all others


@dataclass
class _Variable:
    name: str
    text: str
    causality: str
    variability: str
    initial: str = ""
    unit: str = ""
    start: float | None = None
    derivative: int | None = None  # place of its state among the variables
    reference: int = field(default=0)


def _variables(model: FmuModel) -> list[_Variable]:
    """All variables; the index of each is its value reference, as in ``runtime/interface.c``."""
    law = model.law
    sampled = law is not None and law.period is not None
    states = zip(model.state_names, model.state_texts, model.state_values, strict=True)
    made = [_Variable("time", "time", "independent", "continuous", unit="s")]
    made += [_Variable(name, text, "local", "continuous", "exact", start=x) for name, text, x in states]
    made += [
        _Variable(f"der({name})", f"rate of {name}", "local", "continuous", "calculated", derivative=1 + i)
        for i, name in enumerate(model.state_names)
    ]
    inputs = zip(model.inputs, model.input_values, strict=True)
    made += [_Variable(x.name, x.text, "input", "continuous", unit=x.unit, start=value) for x, value in inputs]
    made += [
        _Variable(name, model.numbers[i].text, "parameter", "tunable", "exact", start=model.numbers[i].value)
        for name, i in zip(model.parameter_names, model.tuned, strict=True)
    ]
    text = "longest step of the integrator inside, of order four; co-simulation only"
    made.append(_Variable("internal_step", text, "parameter", "tunable", "exact", "s", model.step))
    held = {f"u.{name}" for name in model.plant.actuator_names} if sampled else set()
    made += [
        _Variable(
            x.name,
            x.text,
            "output",
            "discrete" if x.name.replace("'", "") in held else "continuous",
            "calculated",
            x.unit,
        )
        for x in model.outputs
    ]
    made += [
        _Variable("closure", "largest gap of the loops", "local", "continuous", "calculated", "m"),
        _Variable("spread", "how fast others move beside the kept coordinates", "local", "continuous", "calculated"),
        _Variable("margin", "0 where other coordinates are kept", "local", "continuous", "calculated"),
    ]
    if law is not None and sampled:
        made += [
            _Variable(f"law_state[{i + 1}]", f"state {s} of the law", "local", "discrete", "calculated")
            for i, s in enumerate(law.states)
        ]
        made += [
            _Variable(f"report[{i + 1}]", f"the law reports {s}", "local", "discrete", "calculated")
            for i, s in enumerate(law.report)
        ]
    for i, variable in enumerate(made):
        variable.reference = i
    return made


def value_references(model: FmuModel) -> dict[str, int]:
    """Value references of all variables, by name."""
    return {x.name: x.reference for x in _variables(model)}


def model_description(model: FmuModel, version: str, kinds: Sequence[str], identifier: str, stop: float) -> str:
    """Text of modelDescription.xml."""
    write = _two if version == "2.0" else _three
    return _text(write(model, kinds, identifier, stop))


def build_description(identifier: str) -> str:
    """Text of sources/buildDescription.xml of FMI 3.0."""
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = ET.SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = ET.SubElement(configuration, "SourceFileSet", language="C99")
    ET.SubElement(files, "SourceFile", name=_SOURCE)
    return _text(root)


def _text(root: ET.Element) -> str:
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _number(x: float) -> str:
    return repr(float(x))


def _attributes(**given: str | None) -> dict[str, str]:
    return {name: value for name, value in given.items() if value}


_CAN_3 = {"canGetAndSetFMUState": "true", "canSerializeFMUState": "true", "providesDirectionalDerivatives": "true"}
_CAN_2 = {"canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true", "providesDirectionalDerivative": "true"}


def _head(model: FmuModel) -> dict[str, str]:
    named = f" with {model.law.controller.name} inside" if model.law is not None else ""
    return {
        "modelName": single_line(model.plant.name),
        "description": f"{single_line(model.plant.name)}{named}; SI units",
        "generationTool": f"cmbcontrol {model.version}",
        "variableNamingConvention": "structured",
    }


def _shared(root: ET.Element, model: FmuModel, variables: Sequence[_Variable], stop: float) -> None:
    """Add units, categories of messages, and the default experiment."""
    units = ET.SubElement(root, "UnitDefinitions")
    for name, exponents in units_of(x.unit for x in variables).items():
        unit = ET.SubElement(units, "Unit", name=name)
        ET.SubElement(unit, "BaseUnit", {key: str(value) for key, value in exponents.items()})
    categories = ET.SubElement(root, "LogCategories")
    for name in ("logAll", "logStatusWarning", "logStatusDiscard", "logStatusError"):
        ET.SubElement(categories, "Category", name=name)
    ET.SubElement(root, "DefaultExperiment", startTime="0.0", stopTime=_number(stop), tolerance="1e-8")


def _unit(variable: _Variable) -> str | None:
    return variable.unit if variable.unit in units_of([variable.unit]) else None


def _three(model: FmuModel, kinds: Sequence[str], identifier: str, stop: float) -> ET.Element:
    variables = _variables(model)
    root = ET.Element("fmiModelDescription", {"fmiVersion": "3.0", "instantiationToken": model.token, **_head(model)})
    if "ModelExchange" in kinds:
        ET.SubElement(
            root, "ModelExchange", {"modelIdentifier": identifier, "needsCompletedIntegratorStep": "true", **_CAN_3}
        )
    if "CoSimulation" in kinds:
        ET.SubElement(
            root,
            "CoSimulation",
            {"modelIdentifier": identifier, "canHandleVariableCommunicationStepSize": "true", **_CAN_3},
        )
    _shared(root, model, variables, stop)
    listed = ET.SubElement(root, "ModelVariables")
    for x in variables:
        start = None if x.start is None else _number(x.start)
        given = _attributes(
            name=x.name,
            valueReference=str(x.reference),
            description=single_line(x.text),
            causality=x.causality,
            variability=x.variability,
            initial=x.initial,
            unit=_unit(x),
            derivative=None if x.derivative is None else str(x.derivative),
            start=start,
        )
        ET.SubElement(listed, "Float64", given)
    structure = ET.SubElement(root, "ModelStructure")
    for x in _of(variables, "output"):
        ET.SubElement(structure, "Output", valueReference=str(x.reference))
    for x in _rates(variables):
        ET.SubElement(structure, "ContinuousStateDerivative", valueReference=str(x.reference))
    for x in _unknown(variables):
        ET.SubElement(structure, "InitialUnknown", valueReference=str(x.reference))
    if "ModelExchange" in kinds:
        indicator = next(x for x in variables if x.name == "margin")
        ET.SubElement(structure, "EventIndicator", valueReference=str(indicator.reference))
    return root


def _two(model: FmuModel, kinds: Sequence[str], identifier: str, stop: float) -> ET.Element:
    variables = _variables(model)
    root = ET.Element(
        "fmiModelDescription",
        {
            "fmiVersion": "2.0",
            "guid": model.token,
            **_head(model),
            **({"numberOfEventIndicators": "1"} if "ModelExchange" in kinds else {}),
        },
    )
    for kind in ("ModelExchange", "CoSimulation"):
        if kind in kinds:
            more = {"canHandleVariableCommunicationStepSize": "true"} if kind == "CoSimulation" else {}
            element = ET.SubElement(root, kind, {"modelIdentifier": identifier, **more, **_CAN_2})
            files = ET.SubElement(element, "SourceFiles")
            ET.SubElement(files, "File", name=_SOURCE)
    _shared(root, model, variables, stop)
    listed = ET.SubElement(root, "ModelVariables")
    for x in variables:
        given = _attributes(
            name=x.name,
            valueReference=str(x.reference),
            description=single_line(x.text),
            causality=x.causality,
            variability=x.variability,
            initial=x.initial,
        )
        element = ET.SubElement(listed, "ScalarVariable", given)
        # indices begin with 1
        rate = None if x.derivative is None else str(x.derivative + 1)
        start = None if x.start is None else _number(x.start)
        ET.SubElement(element, "Real", _attributes(unit=_unit(x), derivative=rate, start=start))
    structure = ET.SubElement(root, "ModelStructure")
    for name, group in (
        ("Outputs", _of(variables, "output")),
        ("Derivatives", _rates(variables)),
        ("InitialUnknowns", _unknown(variables)),
    ):
        found = list(group)
        if found:
            element = ET.SubElement(structure, name)
            for x in found:
                ET.SubElement(element, "Unknown", index=str(x.reference + 1))
    return root


def _of(variables: Sequence[_Variable], causality: str) -> Iterator[_Variable]:
    return (x for x in variables if x.causality == causality)


def _rates(variables: Sequence[_Variable]) -> Iterator[_Variable]:
    return (x for x in variables if x.derivative is not None)


def _unknown(variables: Sequence[_Variable]) -> Iterator[_Variable]:
    """Variables computed from start values: rates of states, and outputs."""
    return (x for x in variables if x.derivative is not None or (x.causality == "output" and x.initial == "calculated"))
