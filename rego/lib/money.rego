# METADATA
# description: Amounts of money. The input counts millionths of a US dollar.
package bursar.lib.money

# METADATA
# description: Millionths of a number of whole US dollars.
dollars(n) := n * 1000000

# METADATA
# scope: document
# description: An amount in millionths as text, with two digits or as many as are needed, say "12.50 USD".
text(micros) := sprintf("%d.%s USD", [(micros - rest) / 1000000, padded(trim_right(sprintf("%06d", [rest]), "0"))]) if {
	micros >= 0
	rest := micros % 1000000
}

text(micros) := concat("", ["-", text_of_negative(micros)]) if micros < 0

text_of_negative(micros) := sprintf("%d.%s USD", [(whole - rest) / 1000000, padded(trim_right(sprintf("%06d", [rest]), "0"))]) if {
	whole := 0 - micros
	rest := whole % 1000000
}

padded(digits) := digits if count(digits) > 1

padded(digits) := concat("", [digits, "0"]) if count(digits) == 1

padded(digits) := "00" if count(digits) == 0
