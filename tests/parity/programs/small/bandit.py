"""Three arms, one of them good: a policy gradient finds it."""
import torch
import torch.nn.functional as F

torch.manual_seed(12)
rates = torch.tensor([0.2, 0.5, 0.8])
logits = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([logits], lr=0.5)
baseline = 0.0
for _ in range(60):
    arm = torch.multinomial(F.softmax(logits, 0).detach(), 1)
    reward = torch.bernoulli(rates[arm]).item()
    loss = -F.log_softmax(logits, 0)[arm].sum() * (reward - baseline)
    baseline += 0.1 * (reward - baseline)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(F.softmax(logits, 0), f"{baseline:.4f}")
