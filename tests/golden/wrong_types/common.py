FLAG = True
SIZE = 3
SIZES = [1, 2]
