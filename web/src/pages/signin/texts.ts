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
});
