"""The paper's attacks: what f Byzantine workers send, given what the honest ones send."""
