#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The unit tests of relocation on the images of tests/images/ext4-variants that the quick tests leave out.
# No machine is booted, but it takes too long for the quick tests, so:
# VM: yes
cd "$(dirname "$0")/../.." || exit 1
exec "${O:-build}-dev/tests/reorder-ext4" -m slow --tap
