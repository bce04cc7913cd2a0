"""People: accounts, signing in, rosters."""

from qianka.services.people.accounts import add_person as add_person
from qianka.services.people.accounts import add_to_cohort as add_to_cohort
from qianka.services.people.accounts import change_password as change_password
from qianka.services.people.accounts import check_login as check_login
from qianka.services.people.accounts import create_person as create_person
from qianka.services.people.accounts import enroll as enroll
from qianka.services.people.accounts import list_people as list_people
from qianka.services.people.accounts import memberships as memberships
from qianka.services.people.accounts import new_activation as new_activation
from qianka.services.people.accounts import set_password as set_password
from qianka.services.people.accounts import set_profile as set_profile
from qianka.services.people.accounts import suspend as suspend
from qianka.services.people.methods import methods as methods
from qianka.services.people.rosters import Applied as Applied
from qianka.services.people.rosters import NewPerson as NewPerson
from qianka.services.people.rosters import Preview as Preview
from qianka.services.people.rosters import apply_roster as apply_roster
from qianka.services.people.rosters import preview_roster as preview_roster
from qianka.services.people.signin import SignIn as SignIn
from qianka.services.people.signin import activate as activate
from qianka.services.people.signin import end_others as end_others
from qianka.services.people.signin import issue_token as issue_token
from qianka.services.people.signin import list_tokens as list_tokens
from qianka.services.people.signin import revoke_token as revoke_token
from qianka.services.people.signin import sign_in as sign_in
