"""The declaration model: frozen records that describe declarations.

The model has two layers. The *source* layer (`source`, `field_parts`) describes one file or class statement on its own, before
imported names are resolved. The *declaration* layer (`fields`, `declarations`) adds inherited fields and decides their kinds.
Both readers, `read` with `link` for text and `reflection` for class statements, create the source layer, and turn it into
declarations with the functions of `build_field`. Rules, emitters and the freshness check of the runtime use the declarations.
This package does not import torch, and does not read the disk.

Two declarations are equal if the same run-time class is generated for them. Attributes that only document or type it (the
spelling of an annotation, docstrings, places) are not compared.
"""

from ..common import language as language
from ..common.language import FLAGS as FLAGS
from ..common.language import INIT as INIT
from ..common.language import STRING_OPTIONS as STRING_OPTIONS
from .build_field import as_submodule as as_submodule
from .declarations import BaseDecl as BaseDecl
from .declarations import Declaration as Declaration
from .declarations import FileDecl as FileDecl
from .declarations import ModuleDecl as ModuleDecl
from .declarations import RegistrationDecl as RegistrationDecl
from .declarations import TensorClassDecl as TensorClassDecl
from .declarations import declares as declares
from .declarations import fingerprint as fingerprint
from .declarations import home as home
from .declarations import structure as structure
from .dimensions import Dim as Dim
from .dimensions import DimError as DimError
from .dimensions import dim_names as dim_names
from .field_parts import DYNAMIC as DYNAMIC
from .field_parts import HIDDEN as HIDDEN
from .field_parts import NO_PATH as NO_PATH
from .field_parts import Choice as Choice
from .field_parts import Default as Default
from .field_parts import Meaning as Meaning
from .field_parts import NodePath as NodePath
from .field_parts import Partial as Partial
from .field_parts import TypeExpr as TypeExpr
from .field_parts import Value as Value
from .field_parts import union as union
from .fields import BufferDecl as BufferDecl
from .fields import CheckDecl as CheckDecl
from .fields import ConfigDecl as ConfigDecl
from .fields import DerivedDecl as DerivedDecl
from .fields import FieldDecl as FieldDecl
from .fields import FieldKind as FieldKind
from .fields import ModuleField as ModuleField
from .fields import ParameterDecl as ParameterDecl
from .fields import SubmoduleDecl as SubmoduleDecl
from .fields import VirtualDecl as VirtualDecl
from .source import Argument as Argument
from .source import Asked as Asked
from .source import AttributeChange as AttributeChange
from .source import ClassSource as ClassSource
from .source import ConditionalSource as ConditionalSource
from .source import FieldSource as FieldSource
from .source import ImportContext as ImportContext
from .source import ImportedName as ImportedName
from .source import MethodSource as MethodSource
from .source import Mixin as Mixin
from .source import Reexports as Reexports
from .source import RegistrationSource as RegistrationSource
from .source import ReplaceSource as ReplaceSource
from .source import Signature as Signature
from .source import SourceFile as SourceFile
from .source import SpecifierCall as SpecifierCall
from .source import TypeVariable as TypeVariable
from .source import expression_of as expression_of
