"""A master that is not ours: couples two OSMP FMUs with FMPy and writes every
message to files, as `wiregauge cosim run --dump` does.

The jobs come as JSON, a list of: source, model (paths), source_parameters,
model_parameters, step, steps, out.
"""

import ctypes
import json
import pathlib
import sys
import tempfile

import fmpy
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave


class Fmu:
    def __init__(self, path, parameters, step):
        # Not validated here: another test does, and says what is wrong.
        self.description = fmpy.read_model_description(path, validate=False)
        self.references = {v.name: v for v in self.description.modelVariables}
        self.three = self.description.fmiVersion.startswith("3")
        make = FMU3Slave if self.three else FMU2Slave
        self.folder = tempfile.TemporaryDirectory()
        self.slave = make(
            guid=self.description.guid,
            unzipDirectory=fmpy.extract(path, self.folder.name),
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="fmpy",
        )
        self.slave.instantiate()
        if not self.three:
            self.slave.setupExperiment(startTime=0.0)
        for name, value in parameters.items():
            self.set(name, value)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()
        self.step_size = step

    def set(self, name, value):
        variable = self.references[name]
        setter = {
            "Integer": "setInteger",
            "Int32": "setInt32",
            "Boolean": "setBoolean",
            "String": "setString",
        }[variable.type]
        getattr(self.slave, setter)([variable.valueReference], [value])

    def binary(self, name):
        """The message, copied out of the FMU's memory."""
        if self.three:
            return self.slave.getBinary([self.references[name].valueReference])[0]
        lo, hi, size = self.slave.getInteger(self.triple(name))
        address = (hi & 0xFFFFFFFF) << 32 | lo & 0xFFFFFFFF
        return ctypes.string_at(address, size) if address else b""

    def give(self, name, message):
        if self.three:
            self.slave.setBinary([self.references[name].valueReference], [message])
            return
        # Kept: the model reads it during its step.
        self.kept = ctypes.create_string_buffer(message, len(message))
        address = ctypes.addressof(self.kept)
        words = [ctypes.c_int32(address & 0xFFFFFFFF).value, ctypes.c_int32(address >> 32).value]
        self.slave.setInteger(self.triple(name), [*words, len(message)])

    def triple(self, name):
        return [self.references[name + part].valueReference for part in (".base.lo", ".base.hi", ".size")]

    def step(self, time):
        self.slave.doStep(currentCommunicationPoint=time, communicationStepSize=self.step_size)

    def check_refusals(self):
        """What the FMUs cannot do, and a call without an instance, is an error and no crash."""
        error = 3
        name = "fmi3EnterStepMode" if self.three else "fmi2CancelStep"
        function = getattr(self.slave.dll, name)
        function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_int
        for instance in (self.slave.component, None):
            assert function(instance) == error, name

    def end(self):
        self.slave.terminate()
        self.slave.freeInstance()


def run(job):
    source = Fmu(job["source"], job["source_parameters"], job["step"])
    model = Fmu(job["model"], job["model_parameters"], job["step"])
    # A recorder has none.
    result = next((n for n in ("OSMPSensorDataOut", "OSMPTrafficUpdateOut")
                   if n in model.references or n + ".size" in model.references), None)
    out = pathlib.Path(job["out"])
    for number in range(job["steps"]):
        time = number * job["step"]
        source.step(time)
        message = source.binary("OSMPSensorViewOut")
        model.give("OSMPSensorViewIn", message)
        model.step(time)
        (out / f"source-{number:06}.bin").write_bytes(message)
        if result is not None:
            (out / f"model-{number:06}.bin").write_bytes(model.binary(result))
    for fmu in (source, model):
        fmu.check_refusals()
        fmu.end()


for job in json.load(sys.stdin):
    run(job)
