#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The unit tests of the splice engine on every image that tests/images/squashfs-variants makes.
# No machine is booted, but it takes too long for the quick tests, so:
# VM: yes
cd "$(dirname "$0")/../.." || exit 1
exec "${O:-build}-dev/tests/reorder-splice" -m slow --tap
