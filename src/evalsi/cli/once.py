"""Commands that refuse an option given twice, where the parser would keep the last and drop the others in silence."""

import click


class OnceCommand(click.Command):
    """A command of which every option may be given once, but for those that say they are repeatable."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(list(args))
            seen: set[click.Parameter] = set()
            for parameter in order:
                if isinstance(parameter, click.Option) and not parameter.multiple and not parameter.is_flag:
                    if parameter in seen:
                        raise click.UsageError(f"{parameter.opts[-1]} was given twice; give it once.", ctx)
                    seen.add(parameter)
        return super().parse_args(ctx, args)
