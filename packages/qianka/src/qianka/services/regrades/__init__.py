"""Regrades: rehearsed on the stored hand-ins, compared, then applied or dropped; and single gradings replayed."""

from qianka.services.regrades.apply import apply as apply
from qianka.services.regrades.apply import drop as drop
from qianka.services.regrades.compare import Difference as Difference
from qianka.services.regrades.compare import Fault as Fault
from qianka.services.regrades.compare import Line as Line
from qianka.services.regrades.compare import show as show
from qianka.services.regrades.reasons import Change as Change
from qianka.services.regrades.replay import Replayed as Replayed
from qianka.services.regrades.replay import replay as replay
from qianka.services.regrades.replay import replayed as replayed
from qianka.services.regrades.start import list_regrades as list_regrades
from qianka.services.regrades.start import outdated as outdated
from qianka.services.regrades.start import start as start
