"""Holders of messages that Bazel has generated before it compiles.

    load(":wiregauge.bzl", "wiregauge_cc_holders")

    wiregauge_cc_holders(
        name = "scan",
        definitions = ["scan.msg"],
        wires = ["cdr"],
        program = "@wiregauge//:wiregauge",
    )

is a library of headers, for `deps` of a cc_binary or cc_library.
"""

def _wiregauge_cc_holders(ctx):
    # The module says what the files are called, so no list of them is needed here.
    folder = ctx.actions.declare_directory(ctx.label.name + "_holders")
    words = ctx.actions.args()
    words.add("generate")
    words.add_all(ctx.files.definitions)
    words.add("--language", "cpp")
    words.add_joined("--wire", ctx.attr.wires, join_with = ",")
    words.add("--module", ctx.attr.module or ctx.label.name)
    words.add("-o", folder.path)
    ctx.actions.run(
        executable = ctx.executable.program,
        arguments = [words],
        inputs = ctx.files.definitions,
        outputs = [folder],
        mnemonic = "WiregaugeGenerate",
    )
    context = cc_common.create_compilation_context(
        headers = depset([folder]),
        includes = depset([folder.path]),
    )
    return [DefaultInfo(files = depset([folder])), CcInfo(compilation_context = context)]

wiregauge_cc_holders = rule(
    implementation = _wiregauge_cc_holders,
    attrs = {
        "definitions": attr.label_list(allow_files = [".msg", ".proto"], mandatory = True),
        "wires": attr.string_list(mandatory = True),
        "module": attr.string(),
        "program": attr.label(executable = True, cfg = "exec", allow_single_file = True, mandatory = True),
    },
)

def _wiregauge_program(ctx):
    program = ctx.os.environ.get("WIREGAUGE") or ctx.which("wiregauge")
    if not program:
        fail("the program wiregauge is not on the path; install it, or set WIREGAUGE")
    ctx.symlink(program, "wiregauge")
    ctx.file("BUILD", "exports_files([\"wiregauge\"])\n")

# The program of the machine, as @wiregauge//:wiregauge.
wiregauge_program = repository_rule(
    implementation = _wiregauge_program,
    environ = ["PATH", "WIREGAUGE"],
    local = True,
)
