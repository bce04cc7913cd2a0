"""Receipts: the signed proof of a hand-in, verifiable without the platform."""

from qianka.receipts.keys import Key as Key
from qianka.receipts.keys import key_id_of as key_id_of
from qianka.receipts.keys import load_or_make_key as load_or_make_key
from qianka.receipts.receipt import Signed as Signed
from qianka.receipts.receipt import Verified as Verified
from qianka.receipts.receipt import canonical as canonical
from qianka.receipts.receipt import differences as differences
from qianka.receipts.receipt import make_body as make_body
from qianka.receipts.receipt import render as render
from qianka.receipts.receipt import sign as sign
from qianka.receipts.receipt import verify_file as verify_file
