"""How long, how good, is it different, and what is the limit?"""
