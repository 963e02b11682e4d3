# SPDX-License-Identifier: GPL-3.0-or-later
#
# Writes the many small text files of the tiny image: COUNT files under DIR,
# 100 to 5,000 bytes each, always the same. No awk's rand() is like another's.
function next_number(limit) {
	state = (state * 1103515 + 12345) % 2147483648
	return int(state / 8) % limit
}
BEGIN {
	split("boot disc drive file frame hub inode lens page read seek sector " \
	      "spin table track unit volume word", words, " ")
	state = 12
	for (i = 0; i < count; i++) {
		name = sprintf("%s/configuration-part-%03d", dir, i)
		size = 100 + next_number(4900)
		text = sprintf("# part %d\n", i)
		while (length(text) < size)
			text = text words[1 + next_number(18)] next_number(1000) \
				(next_number(8) ? " " : "\n")
		printf "%s\n", text > name
		close(name)
	}
}
