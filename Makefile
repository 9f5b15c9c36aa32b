# Each target works as the first command after the clone. Everything else is plain cargo.

.PHONY: ab build check claims db_bench eval install record setup test
