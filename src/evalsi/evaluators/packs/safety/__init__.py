"""Does an output leak, obey an attacker, harm or refuse?"""
