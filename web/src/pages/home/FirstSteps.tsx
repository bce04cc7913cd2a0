import { Link } from "react-router";
import { useTexts } from "@/i18n";
import { Box, Lines } from "./Box";
import { homeTexts } from "./texts";

/** Where to begin. */
export function FirstSteps({ cohort }: { cohort: string }) {
  const t = useTexts(homeTexts);
  const steps = [
    { to: `/c/${cohort}/labs`, text: t("stepLabs") },
    { to: "/guide/hand-in", text: t("stepHandIn") },
    { to: "/me/tokens", text: t("stepToken") },
    { to: "/guide/no-gpu", text: t("stepCards") },
    { to: "/guide/debug", text: t("stepDebug") },
  ];
  return (
    <Box title={t("steps")}>
      <Lines label={t("steps")}>
        {steps.map((step) => (
          <li key={step.to}>
            <Link to={step.to}>{step.text}</Link>
          </li>
        ))}
      </Lines>
    </Box>
  );
}
