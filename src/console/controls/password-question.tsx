// Asks for the password once more, where the gateway wants it before a change.
import { passwordWanted, send } from '../data/api.ts';
import { Dialog } from './dialog.tsx';
import { Field, Form } from './form.tsx';

export function PasswordQuestion() {
  const wanted = passwordWanted.value;
  if (wanted === undefined) return null;
  return (
    <Dialog title="Your password, once more" close={() => wanted.give(false)}>
      <p>
        This changes who may spend or read. The password is asked for where it was not given within the last ten
        minutes.
      </p>
      <Form
        button="Go on"
        further={
          <button type="button" onClick={() => wanted.give(false)}>
            Cancel
          </button>
        }
        send={async (values) => {
          await send('POST', 'confirm', { password: String(values.get('password')) });
          wanted.give(true);
        }}
      >
        <Field label="Password" name="password" type="password" autocomplete="current-password" required autofocus />
      </Form>
    </Dialog>
  );
}
