"""Problems in the form of FlashInfer Trace, and SOL-ExecBench's folders by the same reader."""
