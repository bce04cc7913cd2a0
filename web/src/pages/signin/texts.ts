import { defineTexts } from "@/i18n";

export const signinTexts = defineTexts({
  signIn: ["登录", "Sign in"],
  login: ["登录名", "Login"],
  loginHint: ["一般是学号", "Usually your student number"],
  password: ["密码", "Password"],
  first: ["第一次登录？用激活码设置密码", "First time? Choose a password with your code"],
  activate: ["设置密码", "Choose a password"],
  activateLead: [
    "激活码在教师发的纸条上，只能用一次。",
    "The code is on the slip that your teacher gave you; it works once.",
  ],
  code: ["激活码", "Activation code"],
  newPassword: ["新密码", "New password"],
  passwordRule: [
    "至少 8 个字符，不能是登录名或学号",
    "At least 8 characters, neither your login nor your student number",
  ],
  again: ["再输入一次", "Once more"],
  notSame: ["两次输入不一样", "The two are not the same"],
  missing: ["请填写", "Please fill this in"],
  toLogin: ["已有密码？登录", "You have a password? Sign in"],
  others: ["其他方式", "Other ways"],
  tagline: ["课程与显卡，一个系统", "The course and its GPUs as one system"],
  language: ["English", "Chinese"],
  lookSwitch: ["切换深浅色", "Switch light and dark"],
  no_account: [
    "统一认证认得你，但平台的名单里没有你：请教师先把你加进课程班",
    "The campus knows you, but no roster here does: ask the teacher to add you",
  ],
  two_accounts: [
    "你的学号对应多个账户：请教师改正名单",
    "Your number fits several accounts: ask the teacher to mend the roster",
  ],
  admin_local: ["管理员只能用平台账户登录", "Administrators sign in with their platform account"],
  state: [
    "这次登录已过期，或不是在这个浏览器里开始的：请再登录一次",
    "This sign-in expired, or began elsewhere: sign in once more",
  ],
  denied: ["统一认证没有确认这次登录：请再登录一次", "The campus did not confirm this sign-in: sign in once more"],
  signin_away: [
    "统一认证没有回答：稍后再试，或用平台账户登录",
    "The campus sign-in does not answer: try again later, or use the platform account",
  ],
  refused: ["没有登录成功：请再试一次", "This sign-in did not work: try once more"],
});

const REFUSALS = ["no_account", "two_accounts", "admin_local", "state", "denied", "signin_away"] as const;

/** What to say to a browser that came back from elsewhere with `code`; an address cannot put words into our mouth. */
export function refusalOf(code: string): (typeof REFUSALS)[number] | "refused" {
  return REFUSALS.find((one) => one === code) ?? "refused";
}
