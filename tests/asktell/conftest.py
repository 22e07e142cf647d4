"""Makes the assertions of the shared module as talkative as those of the tests."""

import pytest

pytest.register_assert_rewrite("tests.asktell.in_hand")
