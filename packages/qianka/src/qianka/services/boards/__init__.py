"""Boards: of a lab's own metric, of predictions entered as CSV, and by efficiency."""

from qianka.services.boards.allowance import Allowance as Allowance
from qianka.services.boards.entering import Entered as Entered
from qianka.services.boards.entering import check_announced as check_announced
from qianka.services.boards.entering import enter as enter
from qianka.services.boards.entries import FoundEntry as FoundEntry
from qianka.services.boards.entries import allowance_now as allowance_now
from qianka.services.boards.entries import file_of as file_of
from qianka.services.boards.entries import get_entry as get_entry
from qianka.services.boards.entries import list_entries as list_entries
from qianka.services.boards.entries import rebuild as rebuild
from qianka.services.boards.entries import receipt_of as receipt_of
from qianka.services.boards.entries import select_entries as select_entries
from qianka.services.boards.entries import withdraw as withdraw
from qianka.services.boards.lab import Board as Board
from qianka.services.boards.lab import Row as Row
from qianka.services.boards.lab import board as board
from qianka.services.boards.lab import efficiency as efficiency
from qianka.services.boards.loading import Opened as Opened
from qianka.services.boards.making import change as change
from qianka.services.boards.making import create as create
from qianka.services.boards.making import import_kaggle as import_kaggle
from qianka.services.boards.making import sample_of as sample_of
from qianka.services.boards.ranking import Ranking as Ranking
from qianka.services.boards.ranking import get as get
from qianka.services.boards.ranking import list_boards as list_boards
from qianka.services.boards.ranking import ranking as ranking
