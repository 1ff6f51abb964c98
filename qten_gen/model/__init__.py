"""The declaration model: what a declaration says, as data.

Two layers stand here and nothing else. The *source* layer (`SourceFile`, `ClassSource`, `FieldSource`) is what one file says on
its own, before anybody knows what an imported name means. The *declaration* layer (`TensorClassDecl`, `ModuleDecl`) is what it
means: inherited fields in place, kinds decided. Readers make the first, `link` the second; rules, emitters and the run-time
check read the second. All are frozen; none knows libcst, torch or a disk.

Two declarations are equal when the same run-time class is generated for them. What only documents or types (spelling of an
annotation, docstrings, places) is left out of the comparison.
"""

from . import language as language
from .declarations import FLAGS as FLAGS
from .declarations import INIT as INIT
from .declarations import STRING_OPTIONS as STRING_OPTIONS
from .declarations import BaseDecl as BaseDecl
from .declarations import BufferDecl as BufferDecl
from .declarations import ConfigDecl as ConfigDecl
from .declarations import Declaration as Declaration
from .declarations import FieldDecl as FieldDecl
from .declarations import FieldKind as FieldKind
from .declarations import FileDecl as FileDecl
from .declarations import ModuleDecl as ModuleDecl
from .declarations import ModuleField as ModuleField
from .declarations import ParameterDecl as ParameterDecl
from .declarations import RegistrationDecl as RegistrationDecl
from .declarations import SubmoduleDecl as SubmoduleDecl
from .declarations import TensorClassDecl as TensorClassDecl
from .declarations import VirtualDecl as VirtualDecl
from .declarations import declares as declares
from .declarations import home as home
from .dimensions import Binary as Binary
from .dimensions import Dim as Dim
from .dimensions import DimError as DimError
from .dimensions import Name as Name
from .dimensions import Negate as Negate
from .dimensions import Number as Number
from .dimensions import dim_names as dim_names
from .expressions import NO_PATH as NO_PATH
from .expressions import Default as Default
from .expressions import NodePath as NodePath
from .expressions import Partial as Partial
from .expressions import TypeExpr as TypeExpr
from .expressions import Value as Value
from .expressions import union as union
from .fingerprints import fingerprint as fingerprint
from .fingerprints import structure as structure
from .naming import PRIVATE_NAMES as PRIVATE_NAMES
from .naming import storage as storage
from .source import Argument as Argument
from .source import ClassSource as ClassSource
from .source import ConditionalSource as ConditionalSource
from .source import DataWrite as DataWrite
from .source import FieldSource as FieldSource
from .source import ImportContext as ImportContext
from .source import ImportedName as ImportedName
from .source import MethodSource as MethodSource
from .source import RegistrationSource as RegistrationSource
from .source import Signature as Signature
from .source import SourceFile as SourceFile
from .source import Specifier as Specifier
from .source import TypeVariable as TypeVariable
