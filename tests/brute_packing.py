"""The slow twin of the packing engine: tries everything, knows nothing. And small random questions to ask both."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement
from operator import sub
from random import Random

from qcheck.packing.domains import Domain
from qcheck.packing.gangs import Gang, GangQuestion
from qcheck.packing.question import Nodes, Pods, Question

Amounts = dict[str, int]
Counts = tuple[int, ...]


def fits_by_trying(question: Question) -> bool:
    """Whether the pods fit, by filling node after node in every way."""
    each = [index for index, nodes in enumerate(question.nodes) for _ in range(nodes.count)]
    resources = sorted({r for pods in question.pods for r in pods.request})
    requests = [tuple(pods.request.get(r, 0) for r in resources) for pods in question.pods]
    free = [tuple(nodes.free.get(r, 0) for r in resources) for nodes in question.nodes]

    def fill(node: int, wanted: Counts, left: Counts, begun: Counts = ()) -> Iterator[Counts]:
        """Every way to put some of the wanted pods on one node: what each leaves to be placed elsewhere."""
        at = len(begun)
        if at == len(wanted):
            yield begun
            return
        lefts = [left]
        for _ in range(wanted[at] if question.pods[at].may_use(node) else 0):
            lefts.append(tuple(map(sub, lefts[-1], requests[at])))
            if min(lefts[-1], default=0) < 0:
                lefts.pop()
                break
        for number in range(len(lefts) - 1, -1, -1):
            yield from fill(node, wanted, lefts[number], (*begun, wanted[at] - number))

    @cache
    def from_node(at: int, wanted: Counts) -> bool:
        if not any(wanted) or at == len(each):
            return not any(wanted)
        return any(from_node(at + 1, rest) for rest in fill(each[at], wanted, free[each[at]]))

    return from_node(0, question.wanted)


def gangs_fit_by_trying(question: GangQuestion) -> bool:
    """Whether the gangs fit, by giving every gang to every domain."""
    domains = [d for d in question.domains for _ in range(d.count)]
    gangs = [g for g in question.gangs for _ in range(g.count)]
    asked: dict[tuple[str, tuple[str, ...]], bool] = {}

    def holds(domain: Domain, together: tuple[Gang, ...]) -> bool:
        key = domain.label, tuple(g.label for g in together)
        if key not in asked:
            pods = tuple(m for g in together for m in g.members)
            asked[key] = fits_by_trying(Question(tuple(domain.all_nodes()), pods))
        return asked[key]

    def place(at: int, given: tuple[tuple[Gang, ...], ...]) -> bool:
        if at == len(gangs):
            return True
        for index, domain in enumerate(domains):
            together = (*given[index], gangs[at])
            if holds(domain, together) and place(at + 1, (*given[:index], together, *given[index + 1 :])):
                return True
        return False

    return place(0, ((),) * len(domains))


def most_blocked(nodes: tuple[Nodes, ...], large: Amounts, small: Amounts, pods: int) -> int:
    """The fewest slots of the large pod over every way to scatter up to `pods` small pods."""
    each = [n.free for n in nodes for _ in range(n.count)]
    fewest = sum(times(free, large) for free in each)
    scattered = [w for n in range(pods + 1) for w in combinations_with_replacement(range(len(each)), n)]
    for where in scattered:
        taken = [{r: where.count(i) * q for r, q in small.items()} for i in range(len(each))]
        left = [{r: f - t.get(r, 0) for r, f in free.items()} for free, t in zip(each, taken, strict=True)]
        if all(amount >= 0 for free in left for amount in free.values()):
            fewest = min(fewest, sum(times(free, large) for free in left))
    return fewest


def times(free: Amounts, request: Amounts) -> int:
    number = 0
    while all(free.get(r, 0) >= (number + 1) * q for r, q in request.items()):
        number += 1
    return number


def some_question(seed: int) -> Question:
    """Up to 9 nodes of 3 classes, up to 4 shapes over up to 3 resources, some not eligible everywhere."""
    random = Random(seed)
    if seed % 4 == 0:
        return some_tight_question(random)
    if seed % 4 == 1:
        return some_conflicts(random)
    resources = ["gpu", "cpu", "memory"][: random.randint(1, 3)]
    scale = {"gpu": 1, "cpu": 3, "memory": 7}
    classes = random.randint(1, 3)
    nodes = tuple(
        Nodes(f"class {c}", {r: random.randint(0, 8) * scale[r] for r in resources}, random.randint(0, 3))
        for c in range(classes)
    )
    pods = tuple(
        Pods(f"shape {s}", some_request(random, resources), random.randint(0, 5), some_eligibility(random, classes))
        for s in range(random.randint(1, 4))
    )
    return Question(nodes, pods)


def some_request(random: Random, resources: list[str]) -> Amounts:
    request = {r: random.randint(0, 5) * (1 if r == "gpu" else 4) for r in resources}
    return request if any(request.values()) else {resources[0]: 1}


def some_eligibility(random: Random, classes: int) -> frozenset[int] | None:
    return None if random.random() < 0.7 else frozenset(c for c in range(classes) if random.random() < 0.7)


def some_tight_question(random: Random) -> Question:
    """Equal nodes of one resource and sizes that do not divide each other, filled to the brim."""
    size, count = random.randint(6, 12), random.randint(2, 4)
    sizes = random.sample(range(2, 8), random.randint(2, 4))
    left, wanted = size * count, dict.fromkeys(sizes, 0)
    while left >= min(sizes):
        chosen = random.choice([s for s in sizes if s <= left])
        wanted[chosen], left = wanted[chosen] + 1, left - chosen
        if random.random() < 0.03:
            break
    pods = tuple(Pods(f"{s}s", {"gpu": s}, n) for s, n in wanted.items())
    return Question((Nodes("node", {"gpu": size}, count),), pods)


def some_conflicts(random: Random) -> Question:
    """Pods that shut each other out of some nodes: here filling nodes in fractions is easier than filling them."""
    resources = [f"slot {r}" for r in range(random.randint(4, 7))]
    nodes = tuple(
        Nodes(f"class {c}", {r: random.choice([1, 1, 1, 2, 3]) for r in resources}, random.randint(1, 2))
        for c in range(random.randint(2, 3))
    )
    shapes = random.randint(3, 5)
    pods = tuple(
        Pods(f"shape {s}", dict.fromkeys(random.sample(resources, random.randint(1, 3)), 1), random.randint(1, 2))
        for s in range(shapes)
    )
    return Question(nodes, pods)


def some_gangs(seed: int) -> GangQuestion:
    """Up to 3 domains of up to 3 nodes, up to 4 gangs of up to 2 shapes."""
    random = Random(seed)
    shapes = [{"gpu": random.randint(1, 4), "cpu": random.randint(0, 6)} for _ in range(random.choice([1, 1, 2, 2]))]
    domains = tuple(
        Domain(
            "rack",
            f"racks {d}",
            random.randint(0, 2),
            tuple(
                Nodes(
                    f"node {d}.{n}", {"gpu": random.randint(1, 8), "cpu": random.randint(4, 12)}, random.randint(1, 2)
                )
                for n in range(random.randint(1, 2))
            ),
        )
        for d in range(random.randint(1, 2))
    )
    gangs = tuple(
        Gang(
            f"gang {g}",
            tuple(Pods(f"shape {s}", request, random.randint(1, 2)) for s, request in enumerate(shapes)),
            random.randint(1, 2),
        )
        for g in range(random.randint(1, 2))
    )
    return GangQuestion(domains, gangs)
