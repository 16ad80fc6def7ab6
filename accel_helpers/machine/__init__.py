"""What do I have, what is wrong with it, and where can I train?"""
