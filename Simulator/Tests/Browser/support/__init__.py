# SPDX-License-Identifier: Apache-2.0
"""What the tests in the browser share."""
