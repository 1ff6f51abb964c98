"""The texts of `--help` for each command, before and after its options."""

DESCRIPTIONS = {
    "generate": """\
Write typed Python for the TensorClass and Module declarations below the given
paths: model_qten.py and model_qten.pyi beside model.py.

  path                 files or folders; by default, those that `src` lists in
                       [tool.qten-gen] of pyproject.toml, or the whole project

commands; for the options of one, qten-gen COMMAND --help:
  init                 set up a project: settings, hooks, tool configuration
  check [PATH ...]     find mistakes in plain nn.Modules, without any change
  explain [CODE]       explain a diagnostic such as QG101, or list them all
  show TARGET          print the code that is generated for a class
  inspect TARGET       show the parameters, memory and shapes of a model without
                       allocating it
  lock [TARGET ...]    write down what checkpoints of a model hold, and compare
  adopt [PATH ...]     convert existing classes to Modules and TensorClasses
  stubs [MODULE ...]   write typed stubs for installed libraries such as
                       torch.nn
  lsp                  start the language server: diagnostics, hover, fixes

To generate for a folder with the name of a command, write ./explain.
""",
    "init": """\
Set up the project in this folder: write the section [tool.qten-gen], exclude
generated files from coverage, ruff and diffs on GitHub, and add a pre-commit
hook in a git repository. Existing settings are kept, so a second call changes
nothing.
""",
    "check": """\
Find mistakes in the nn.Modules below the given paths: tensors and modules that
are not registered, constructors that do not call their base's, attributes that
nothing defines. The sources are read as text; nothing is imported or changed.

  PATH                 files or folders; by default, those that `src` lists in
                       [tool.qten-gen] of pyproject.toml, or the whole project
""",
    "explain": """\
Explain a diagnostic: what it reports and why, with a bad and a good example.

  CODE                 a code such as QG101, or a name such as unresolved-base;
                       without it, list all diagnostics
""",
    "show": """\
Print the code that is generated for a class. Nothing is imported or written.

  TARGET               pkg.model:Batch, or src/pkg/model.py:Batch; without a
                       class, all declarations of the file
""",
    "inspect": """\
Show the parameters, buffers and memory of a model without allocating it. The
model is built on fake tensors, so it can be larger than the memory of this
machine. Your code is imported.

  TARGET               pkg.model:Decoder, or src/pkg/model.py:Decoder: a class,
                       a function that constructs a module, or a module
""",
    "lock": """\
Write down what the checkpoints of a model hold, a line for each tensor, as
locks/shop.model.Decoder.lock. With a lock that is there, say what has changed
and what an old checkpoint does; a change that old checkpoints notice is refused
until the version of a class is raised. Your code is imported.

  TARGET               shop.model:Decoder, "shop.model:Decoder(width=64)" or a
                       TensorClass; by default, those that `locks` lists in
                       [tool.qten-gen] of pyproject.toml
""",
    "adopt": """\
Convert the nn.Modules and tensorclasses below the given paths to classes of
qten_gen. Without --write, nothing is changed: the report says how each class
would change, or why it cannot be converted. The sources are read as text; no
code is imported.

  PATH                 files or folders; by default, those that `src` lists in
                       [tool.qten-gen] of pyproject.toml, or the whole project
""",
    "stubs": """\
Write stubs for modules of installed libraries, in which a call has the types
of `forward`. The sources of the libraries are read as text; nothing is
imported, and no library is changed.

  MODULE               torch.nn, timm, ...: packages with all modules in them;
                       by default, those that `stubs` lists in [tool.qten-gen]
                       of pyproject.toml
""",
    "lsp": """\
Start a language server on the standard streams. Editors start it themselves; see
docs/editors.md.
""",
}

EPILOGS = {
    "check": """\
exit status: 0 nothing found, 1 something found, 2 wrong usage, 101 a bug in
qten-gen, 130 interrupted
""",
    "generate": """\
exit status: 0 success, 1 errors found or files out of date, 2 wrong usage,
101 a bug in qten-gen, 130 interrupted
""",
    "inspect": """\
examples:
  qten-gen inspect pkg.model:Decoder --config depth=48 dim=8192
  qten-gen inspect "transformers:LlamaForCausalLM(config=LlamaConfig())"

exit status: 0 success, 1 the model cannot be imported or built, 2 wrong usage,
101 a bug in qten-gen, 130 interrupted
""",
    "lock": """\
exit status: 0 success, 1 a change without a higher version or, with --check, a
lock that is out of date, 2 wrong usage, 101 a bug in qten-gen, 130 interrupted
""",
    "adopt": """\
levels: base changes the bases of classes; annotate also annotates in the class
body what __init__ registers

exit status: 0 success, 1 a file that cannot be parsed, 2 wrong usage, 101 a bug
in qten-gen, 130 interrupted
""",
    "stubs": """\
exit status: 0 success, 1 stubs are out of date, 2 wrong usage or a module
that is not installed, 101 a bug in qten-gen, 130 interrupted
""",
}
