"""Mistakes with a trainer, its callbacks and its settings."""

from callbacks.main import Printer, evaluate
from callbacks.model import Example, Layer, Mlp, MlpSettings, OptimizerSettings, Settings, Wide
from callbacks.training import Trainer, build

settings = Settings({"inputs": 3, "outputs": 2})
wrong: MlpSettings = {"inputs": 3, "output": 2}  # E
example = Example.toy(4, settings)
trainer = Trainer(Mlp(3, 2), OptimizerSettings(), [Printer()])
trainer.fit([example.x])  # E
trainer.step(example, scle=2.0)  # E
trainer.model.widths()  # E
evaluate(Wide(3, 2), example, trian=True)  # E
build(Layer, "4")  # E
Mlp(**settings.model, activation="gelu")  # E
