"""From unmodified code to a recipe: the code runs once on symbols, and what it leaves behind is recognised.

    expression    polynomials with rational coefficients over the entries of the input and over atoms: roots, order
                  statistics, whatever stands at a rank, indicators of conditions, quotients
    conditions    comparisons of expressions;   order: families of them, and what has a rank
    array         an object array of such, which is handed to the code in place of its input;   tensors: torch's names
    ufuncs, functions, summaries    what NumPy's functions do to such arrays
    rewriting     ``if``, ``int``, ``min``, ``sorted`` and their like in the code itself;   merging: what they become
    run, code     the call, and everything around it;   flower: containers of Flower's strategies
    match         from the output's expression to a recipe: selection, columns, pieces (cone), with reading
    compare       the recipe beside the code on numbers

No comparison is ever decided: a sort leaves names of order statistics behind, an argsort names of ranks. So one run
covers all inputs. What is not recognised is refused (``Untraceable``), with the place in the code and a hint.
"""
