import { useSignal } from '@preact/signals';
import type { MemberRole } from '../../../api/console/console.ts';
import { Failure } from '../../controls/notice.tsx';
import { mayGive, ROLE_NAMES, ROLES } from './roles.ts';

interface RoleSelectProps {
  /** For screen readers. */
  label: string;
  role: MemberRole;
  choose(role: MemberRole): Promise<void>;
}

/** The role of somebody, changed where it is read. A refused change is shown, and taken back. */
export function RoleSelect({ label, role, choose }: RoleSelectProps) {
  const failure = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const change = async (select: HTMLSelectElement) => {
    busy.value = true;
    failure.value = undefined;
    try {
      await choose(select.value as MemberRole);
    } catch (error) {
      failure.value = error as Error;
      select.value = role;
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <select
        aria-label={label}
        class="inline"
        value={role}
        disabled={busy.value}
        onChange={(event) => void change(event.currentTarget)}
      >
        {ROLES.filter(mayGive).map((each) => (
          <option key={each} value={each}>
            {ROLE_NAMES[each]}
          </option>
        ))}
      </select>
      <Failure of={failure.value} />
    </>
  );
}
