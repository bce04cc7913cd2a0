import { useQuery } from "@tanstack/react-query";
import { Select, type SelectProps } from "antd";
import { api, body } from "@/api/client";

/** The students of a cohort who take part. */
export function useStudents(cohort: string) {
  const lines = useQuery({
    queryKey: ["gradebook", cohort, "names"],
    queryFn: () =>
      body(api.GET("/api/cohorts/{cohort}/grades", { params: { path: { cohort }, query: { limit: 1000 } } })),
  });
  return { isPending: lines.isPending, students: lines.data?.items.filter((line) => line.active) ?? [] };
}

/** Chooses students by name or number; its value is their logins. */
export function ChooseStudents({ cohort, ...rest }: { cohort: string } & SelectProps<string[]>) {
  const { isPending, students } = useStudents(cohort);
  return (
    <Select<string[]>
      {...rest}
      mode="multiple"
      loading={isPending}
      showSearch={{ optionFilterProp: "label" }}
      options={students.map((line) => ({
        value: line.login,
        label: `${line.name} ${line.student_number ?? line.login}`,
      }))}
    />
  );
}
