"""The worker's lease; see qianka.services.leases."""

from qianka.services.leases import SECONDS as SECONDS
from qianka.services.leases import Lease as Lease
from qianka.services.leases import LeaseLost as LeaseLost
from qianka.services.leases import known_dead as known_dead
from qianka.services.leases import owner_name as owner_name
