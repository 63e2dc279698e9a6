// A model out of many: found by typing what it is called or what it can do, the usable ones first.
import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import type { Model } from '../../api/models.ts';
import { fitsSearch, usableFirst } from '../data/model-search.ts';

interface ModelPickerProps {
  label: string;
  models: readonly Model[];
  /** Loaded while nothing is typed; empty where each choice adds one. */
  value: string;
  placeholder?: string;
  disabled?: boolean;
  choose(id: string): void;
}

export function ModelPicker({ label, models, value, placeholder, disabled = false, choose }: ModelPickerProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  /** What is typed; undefined while the list is closed. */
  const typed = useSignal<string | undefined>(undefined);
  const active = useSignal(0);
  const isOpen = typed.value !== undefined;
  const found = isOpen ? usableFirst(models.filter((model) => fitsSearch(model, typed.value ?? ''))) : [];
  const at = Math.min(active.value, found.length - 1);
  const open = (text: string) => {
    typed.value = text;
    active.value = 0;
  };
  const close = () => {
    typed.value = undefined;
  };
  const take = (model: Model | undefined) => {
    if (model === undefined) return;
    close();
    choose(model.id);
  };
  const move = (by: number) => {
    if (!isOpen) return open('');
    active.value = (at + by + found.length) % Math.max(1, found.length);
    document.getElementById(`${id}-${active.value}`)?.scrollIntoView({ block: 'nearest' });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter' && isOpen) take(found[at]);
    else if (event.key === 'Escape' && isOpen) close();
    else return;
    event.preventDefault();
  };
  return (
    <div class="field picker">
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && found.length > 0 ? `${id}-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        disabled={disabled}
        placeholder={isOpen ? 'Search by name, language or ability' : placeholder}
        value={typed.value ?? value}
        onClick={() => !isOpen && open('')}
        onInput={(event) => open(event.currentTarget.value)}
        onKeyDown={press}
        onBlur={close}
      />
      <div id={`${id}-list`} role="listbox" aria-label={label} hidden={!isOpen} class="choices">
        {found.map((model, index) => (
          // The field keeps the focus.
          <div
            key={model.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(model)}
            onKeyDown={press}
          >
            <span>{model.id}</span>
            <small>{model.available ? model.name : 'no key'}</small>
          </div>
        ))}
        {isOpen && found.length === 0 ? <p class="quiet small">No model fits.</p> : null}
      </div>
    </div>
  );
}
